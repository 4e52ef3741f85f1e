"""What answers where the packages of a profile's embedder are missing, and that it is said."""

import pytest

from groundwire.models import choice
from groundwire.wiring import load_profile, stand_in


def without(monkeypatch: pytest.MonkeyPatch, *absent: str) -> None:
    monkeypatch.setattr(choice, "find_spec", lambda name: None if name in absent else object())


def test_with_its_packages_a_profile_is_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is told."""
    without(monkeypatch)
    assert load_profile("default").name == "default"
    assert stand_in("default") is None


def test_default_falls_back_to_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the neural model; the message names the packages and the cure."""
    without(monkeypatch, "onnxruntime")
    assert load_profile("default").name == "fast"
    note = stand_in("default")
    assert note is not None
    assert "onnxruntime" in note
    assert "groundwire[vectors]" in note


def test_fast_falls_back_to_words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are always there."""
    without(monkeypatch, "onnxruntime", "wordllama")
    assert load_profile("default").name == "fast"
    assert load_profile("fast").retrieve.embedder == "none"
    assert load_profile("fast").digest != load_profile("reference").digest


def test_reference_needs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The course's vectors are hashes."""
    without(monkeypatch, "onnxruntime", "wordllama", "tokenizers", "safetensors")
    assert stand_in("reference") is None
