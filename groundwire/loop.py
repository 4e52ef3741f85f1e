"""The event loop of a process that moves messages: uvloop, and a heap set for many short-lived values."""

import gc
from collections.abc import Coroutine
from typing import TypeVar

import uvloop

T = TypeVar("T")

_YOUNG, _MIDDLE, _OLD = 50_000, 20, 50
"""Allocations, then collections, before each generation is looked at. Python's 700 mean a collection every few
messages, and messages free themselves by their reference counts: that was an eighth of a worker's time."""


def run(work: Coroutine[object, object, T]) -> T:
    """Run to the end on a loop of its own, like `asyncio.run`."""
    return uvloop.run(work)


def settle_heap() -> None:
    """Call once when all is imported and built: what exists by now stays, no collection need look at it again."""
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
