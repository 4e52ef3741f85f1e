"""The embedded server: a real Valkey that lives and dies with the process that owns it.

Names are loaded on first use: the guard process starts in this package and must stay light.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .lock import RunningSystem as RunningSystem
    from .lock import SystemLock as SystemLock
    from .lock import SystemState as SystemState
    from .lock import find_system as find_system
    from .server import EmbeddedServer as EmbeddedServer
    from .temporary import TemporaryServer as TemporaryServer
    from .temporary import temporary_server as temporary_server

_HOMES = {
    "EmbeddedServer": ".server",
    "RunningSystem": ".lock",
    "SystemLock": ".lock",
    "SystemState": ".lock",
    "TemporaryServer": ".temporary",
    "find_system": ".lock",
    "temporary_server": ".temporary",
}

__all__ = [
    "EmbeddedServer",
    "RunningSystem",
    "SystemLock",
    "SystemState",
    "TemporaryServer",
    "find_system",
    "temporary_server",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
