"""Measures of quality on published collections, which are read from a folder and never shipped."""
