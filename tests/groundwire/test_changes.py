"""What changes while a process runs."""

from pathlib import Path

import pytest

from contracts import Misconfigured
from groundwire.changes import FIXED, SERVER, change
from groundwire.settings import Settings, load_settings


def settings(**variables: str) -> Settings:
    """Those of a process with these variables."""
    env = {f"GROUNDWIRE_{name}": value for name, value in variables.items()}
    return load_settings(env, Path("/nowhere"))


def test_what_differs_is_named() -> None:
    """In the order of the settings; nothing where nothing does."""
    old = settings(PROFILE="fast", CONCURRENCY="8")
    assert change(old, settings(PROFILE="fast", CONCURRENCY="2", GRACE_S="5")) == (
        "grace_s",
        "concurrency",
    )
    assert change(old, old) == ()


def test_what_needs_a_new_process_is_refused_with_both_values() -> None:
    """All of it at once, and nothing of the change is done."""
    new = settings(LANES="4", LOG_LEVEL="debug", CONCURRENCY="2")
    with pytest.raises(
        Misconfigured, match=r"lanes \(from 1 to 4\), log_level .*stop it and start"
    ):
        change(settings(), new)


def test_a_secret_that_may_not_change_is_named_and_not_shown() -> None:
    """A supervisor's own connection stays where it is."""
    old, new = settings(REDIS_URL="redis://:s3cret@a"), settings(REDIS_URL="redis://:s3cret@b")
    assert change(old, new) == ("redis_url",)
    with pytest.raises(Misconfigured, match="redis_url") as refused:
        change(old, new, (*FIXED, *SERVER))
    assert "s3cret" not in str(refused.value)


def test_every_fixed_setting_is_one() -> None:
    """A setting that is renamed is renamed here as well."""
    assert {*FIXED, *SERVER} <= set(Settings.model_fields)
