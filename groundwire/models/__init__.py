"""Embedders: texts into unit vectors, on one CPU and without a network unless `http` is configured.

A leaf: knows no corpus, profile or agent. All are synchronous; the caller takes them off the loop.
What computes is imported when it is asked for: most processes only want to know whether it is here.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .choice import (
    NAMES,
    Endpoint,
    Unavailable,
    missing,
    open_cross_encoder,
    open_embedder,
    open_static,
)

if TYPE_CHECKING:
    from .cache import Cached, Embedder
    from .vectors import Vectors

_LATER = {"Cached": "cache", "Embedder": "cache", "Vectors": "vectors"}


def __getattr__(name: str) -> object:
    if name in _LATER:
        return getattr(import_module(f".{_LATER[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "NAMES",
    "Cached",
    "Embedder",
    "Endpoint",
    "Unavailable",
    "Vectors",
    "missing",
    "open_cross_encoder",
    "open_embedder",
    "open_static",
]
