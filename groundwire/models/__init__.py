"""Embedders: texts into unit vectors, on one CPU and without a network unless `http` is configured.

A leaf: knows no corpus, profile or agent. All are synchronous; the caller takes them off the loop.
"""

from .cache import Cached, Embedder
from .choice import NAMES, Unavailable, missing, open_embedder
from .vectors import Vectors

__all__ = [
    "NAMES",
    "Cached",
    "Embedder",
    "Unavailable",
    "Vectors",
    "missing",
    "open_embedder",
]
