"""The settings of a supervisor, pinned for its workers: none of them starts by others before it is told to."""

import json
from pathlib import Path

from .files import PRIVATE, replace_file
from .settings import PREFIX, SECRETS, Settings

__all__ = ["worker_environment", "write_pins"]


def worker_environment(settings: Settings) -> dict[str, str]:
    """The variables that make another process see the same settings, secrets apart; empty where unset.

    Secrets it finds where this one found them: in the environment that it inherits, in groundwire.toml, in files.
    """
    values = settings.model_dump(mode="json", exclude=set(SECRETS))
    return {PREFIX + name.upper(): _text(value) for name, value in values.items()}


def write_pins(path: Path, settings: Settings) -> None:
    """Write them as one JSON object, whole or not at all: what `--variables` of a worker reads."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = json.dumps(worker_environment(settings), indent=2) + "\n"
    replace_file(path, text.encode(), mode=PRIVATE)


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
