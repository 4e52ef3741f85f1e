"""What changes while a process runs, and what takes a new process. Values in, values out."""

from collections.abc import Collection

from contracts.errors import Misconfigured

from .settings import SECRETS, Settings

__all__ = ["FIXED", "SERVER", "change"]

FIXED = (
    *("home", "corpus", "corpus_url", "lanes"),
    *("health_port", "health_host", "ready_oldest_s", "log_level", "log_json"),
)
"""What a worker is made with; lanes moreover are the server's, and the same for all."""
SERVER = ("redis_url", "redis_tls_ca", "redis_tls_cert", "redis_tls_key")
"""What a supervisor's own connection is made with."""


def change(old: Settings, new: Settings, fixed: Collection[str] = FIXED) -> tuple[str, ...]:
    """The names of the settings that differ; Misconfigured names those that can't change while running."""
    names = tuple(
        name for name in Settings.model_fields if getattr(old, name) != getattr(new, name)
    )
    stuck = [name for name in names if name in fixed]
    if stuck:
        shown = ", ".join(_shown(name, old, new) for name in stuck)
        raise Misconfigured(
            f"can't change while it runs: {shown}; stop it and start it again for that"
        )
    return names


def _shown(name: str, old: Settings, new: Settings) -> str:
    if name in SECRETS:
        return name
    return f"{name} (from {getattr(old, name)} to {getattr(new, name)})"
