"""The settings beside a backup, secrets apart: to be compared and copied, never put back by themselves."""

import json
import shutil
import tomllib
from pathlib import Path

from groundwire.settings import SECRETS, Settings

__all__ = ["differences", "keep_settings"]

FILE = "settings.toml"
_PLACES = {"home", "corpus", "data", "redis_tls_ca", "redis_tls_cert", "redis_tls_key"}
"""Where things lie on one machine is no matter of another."""


def keep_settings(settings: Settings, folder: Path) -> None:
    """Write what is set otherwise than by default, and the files of profile and intents that are the user's own."""
    lines = (f"{name} = {json.dumps(value)}\n" for name, value in _chosen(settings).items())
    (folder / FILE).write_text("".join(lines), encoding="utf-8")
    if settings.profile.endswith(".toml"):
        shutil.copyfile(settings.profile, folder / "profile.toml")
    if settings.intents is not None:
        shutil.copyfile(settings.intents, folder / "intents.toml")


def differences(settings: Settings, folder: Path) -> tuple[str, ...]:
    """The names of the settings that are others now than beside a backup."""
    then = tomllib.loads((folder / FILE).read_text(encoding="utf-8"))
    now = _chosen(settings)
    return tuple(
        sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))
    )


def _chosen(settings: Settings) -> dict[str, object]:
    apart = {*SECRETS, *_PLACES}
    values = settings.model_dump(mode="json", exclude=apart, exclude_defaults=True)
    return {name: value for name, value in values.items() if value is not None}
