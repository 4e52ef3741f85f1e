"""Readers that need the extra `documents`: what to say where it isn't installed."""

MISSING = "needs the extra 'documents': pip install 'groundwire[documents]'"
