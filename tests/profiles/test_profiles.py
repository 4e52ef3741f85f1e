"""Profiles: named, versioned, validated values with a digest."""

from pathlib import Path

import pytest

from contracts import Misconfigured
from groundwire import intents, profiles


def test_the_shipped_profiles_load_with_their_intents() -> None:
    """Every profile names a set of intents that exists and is valid, or none: the documents decide."""
    assert {"default", "reference"} <= set(profiles.names())
    for name in profiles.names():
        profile = profiles.load(name)
        assert profile.name == name
        if profile.intents is not None:
            intents.parse(profiles.shipped_intents(profile.intents), profile.intents)
    assert [profiles.load(name).intents for name in ("default", "reference")] == [None, "course"]


def test_the_digest_is_of_what_the_profile_decides() -> None:
    """Stable for equal values, other for another one; the description decides nothing."""
    profile = profiles.load("default")
    assert profiles.load("default").digest == profile.digest
    assert len(profile.digest) == 16
    described = profile.model_copy(update={"description": "Other words."})
    assert described.digest == profile.digest
    retrieve = profile.retrieve.model_copy(update={"alpha": 0.7})
    assert profile.model_copy(update={"retrieve": retrieve}).digest != profile.digest


def test_a_profile_of_ones_own_is_a_path(tmp_path: Path) -> None:
    """A wrong key is named with the file."""
    path = tmp_path / "own.toml"
    text = (Path(profiles.__file__).parent / "reference.toml").read_text()
    path.write_text(text)
    assert profiles.load(str(path)).digest == profiles.load("reference").digest
    path.write_text(text.replace("alpha = 0.5", "alpha = 1.5"))
    with pytest.raises(Misconfigured, match=r"own\.toml: retrieve\.alpha"):
        profiles.load(str(path))
    path.write_text("name = ")
    with pytest.raises(Misconfigured, match="is not TOML"):
        profiles.load(str(path))


def test_an_unknown_profile_names_the_ones_there_are() -> None:
    """A typing error is answered with the choices."""
    with pytest.raises(Misconfigured, match="default, fast, reference"):
        profiles.load("defualt")
