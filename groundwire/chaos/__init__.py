"""Chaos: a system of its own, load, faults from a seed, and an account of what became of every query.

Everything is counted from outside, by what the client was told and what lies on the result streams;
the bus's own `verify` is only compared with that. Nothing is imported here: workers start in this package.
"""
