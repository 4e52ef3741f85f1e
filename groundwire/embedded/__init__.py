"""The embedded server: a real Valkey that lives and dies with the process that owns it.

Names are loaded on first use: the guard process starts in this package and must stay light.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .data import holds_data as holds_data
    from .data import put_back as put_back
    from .data import take_dump as take_dump
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
    "holds_data": ".data",
    "put_back": ".data",
    "take_dump": ".data",
    "temporary_server": ".temporary",
}

__all__ = [
    "EmbeddedServer",
    "RunningSystem",
    "SystemLock",
    "SystemState",
    "TemporaryServer",
    "find_system",
    "holds_data",
    "put_back",
    "take_dump",
    "temporary_server",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
