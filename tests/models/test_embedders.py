"""What holds for every embedder: one unit row a text, in order, the same for the same text, offline."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from contracts import Misconfigured
from groundwire import models
from groundwire.models import Embedder, Unavailable, choice, missing, open_embedder
from groundwire.models.onnx import BATCH_TOKENS, Onnx, batches

TEXTS = ["A cat sits on the mat.", "The invoice is due in 30 days.", "A kitten rests on a rug."]


@pytest.fixture(scope="module", params=["wordllama", "minilm"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    name: str = request.param
    if lacking := missing(name):
        pytest.skip(f"not installed: {', '.join(lacking)}")
    return open_embedder(name)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any attempt at a connection or a name look-up fails the test."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was attempted")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_a_text_is_one_unit_row_in_order(embedder: Embedder) -> None:
    """Whatever company a text is in, its row is at its place."""
    rows = embedder.embed(TEXTS)
    assert rows.shape == (3, embedder.dimensions)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    for text, row in zip(TEXTS, rows, strict=True):
        assert float(embedder.embed([text])[0] @ row) > 0.99


def test_no_texts_are_no_rows(embedder: Embedder) -> None:
    """The width stays."""
    assert embedder.embed([]).shape == (0, embedder.dimensions)


@pytest.mark.parametrize("text", ["", " \n", "🙂", "\x00", "退款", "a" * 20_000])
def test_an_odd_text_has_a_finite_row(embedder: Embedder, text: str) -> None:
    """Empty, an emoji, NUL, Chinese, one endless word."""
    row = embedder.embed([text])[0]
    assert np.isfinite(row).all()
    assert np.linalg.norm(row) < 1.001


@pytest.mark.parametrize("name", ["wordllama", "minilm"])
def test_a_text_without_a_known_token_is_near_to_nothing(name: str) -> None:
    """Nothing is known of it, so its row is zeros, like that of an empty text."""
    if lacking := missing(name):
        pytest.skip(f"not installed: {', '.join(lacking)}")
    rows = open_embedder(name).embed(["", "known words", "x" * 8_000 if name == "minilm" else ""])
    assert [bool(row.any()) for row in rows] == [False, True, False]


def test_the_same_texts_are_the_same_numbers(embedder: Embedder) -> None:
    """Bit for bit, so that a snapshot's digest can depend on them."""
    assert embedder.embed(TEXTS).tobytes() == embedder.embed(TEXTS).tobytes()


@pytest.mark.parametrize("name", ["wordllama", "minilm"])
def test_meaning_counts_more_than_words(name: str) -> None:
    """The cat is nearer to the kitten than to the invoice."""
    if lacking := missing(name):
        pytest.skip(f"not installed: {', '.join(lacking)}")
    cat, invoice, kitten = open_embedder(name).embed(TEXTS)
    assert cat @ kitten > cat @ invoice + 0.1


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("name", ["wordllama", "minilm"])
def test_opening_and_embedding_open_no_connection(name: str) -> None:
    """Sockets refuse; the embedder works."""
    if lacking := missing(name):
        pytest.skip(f"not installed: {', '.join(lacking)}")
    assert open_embedder(name).embed(["offline"]).shape[0] == 1


def test_a_model_file_that_is_another_is_refused(tmp_path: Path) -> None:
    """The SHA-256 is checked before the file is run."""
    (tmp_path / "model.onnx").write_bytes(b"not the model")
    (tmp_path / "tokenizer.json").write_text("{}")
    if lacking := missing("onnx:x"):
        pytest.skip(f"not installed: {', '.join(lacking)}")
    with pytest.raises(Misconfigured, match="SHA-256"):
        Onnx(tmp_path / "model.onnx", tmp_path / "tokenizer.json", name="x", sha256="0" * 64)


def test_a_folder_of_a_user_is_the_same_model(tmp_path: Path) -> None:
    """`onnx:PATH` with the files of minilm gives minilm's rows."""
    if lacking := missing("minilm"):
        pytest.skip(f"not installed: {', '.join(lacking)}")
    from groundwire.models.choice import MINILM, MINILM_TOKENIZER, _package

    (tmp_path / "model.onnx").symlink_to(_package(MINILM) / "model.onnx")
    tokenizer = _package(MINILM_TOKENIZER) / "model" / "tokenizer.json"
    (tmp_path / "tokenizer.json").symlink_to(tokenizer)
    given, shipped = open_embedder(f"onnx:{tmp_path}"), open_embedder("minilm")
    assert (given.embed(TEXTS) == shipped.embed(TEXTS)).all()
    assert given.model_id != shipped.model_id


@pytest.mark.parametrize("name", ["nothing", "onnx", "onnx:", "minilm:x", ""])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    """A typo in a profile is a message, not a traceback."""
    with pytest.raises(Misconfigured, match=r"wordllama, minilm|no embedder"):
        open_embedder(name)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that brings them."""
    monkeypatch.setattr(choice, "find_spec", lambda _: None)
    assert "onnxruntime" in models.missing("minilm")
    with pytest.raises(Unavailable, match=r"groundwire\[vectors\]"):
        open_embedder("minilm")


def test_batches_are_small_and_hold_every_place_once() -> None:
    """Padded to the longest, a batch has at most BATCH_TOKENS tokens unless it is one text."""
    lengths = [7, 300, 12, 256, 9, 1_500, 11, 240] * 5
    groups = list(batches(lengths))
    assert sorted(place for group in groups for place in group) == list(range(len(lengths)))
    for group in groups:
        longest = max(lengths[place] for place in group)
        assert len(group) == 1 or len(group) * longest <= BATCH_TOKENS


TELL_TALES = """
import os
from groundwire.models import open_embedder
open_embedder("minilm").embed(["hello"])
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts the threads in /proc")
@pytest.mark.skipif(bool(missing("minilm")), reason="not installed: groundwire[vectors]")
def test_the_runtime_of_models_reports_to_nobody(tmp_path: Path) -> None:
    """onnxruntime's telemetry, on by default, keeps a file in the temporary folder and a thread that uploads."""
    reported = {"CI", "ORT_DISABLE_TELEMETRY"}  # either one keeps it still by itself
    env = {k: v for k, v in os.environ.items() if k not in reported}
    env |= {"TMPDIR": str(tmp_path), "TOKENIZERS_PARALLELISM": "false", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", TELL_TALES], env=env, capture_output=True, text=True, check=True
    )
    assert list(tmp_path.iterdir()) == []
    assert done.stdout == "1\n"
