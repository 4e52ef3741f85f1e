"""The rest of Groundwire: command line, corpus, profiles, embedded server, wiring.

From Python: `async with groundwire.connect() as bus: …`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .client import connect as connect

__all__ = ["connect"]


def __getattr__(name: str) -> object:
    # Loaded on first use: the guard process and the owners check must start without it.
    if name != "connect":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .client import connect

    return connect
