"""Measurements of the bus beside the limit of the machine."""
