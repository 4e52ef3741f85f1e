"""Workers that are warm before they say that they are ready."""

import asyncio
from pathlib import Path

import pytest

from contracts import Intent, Query
from groundwire.wiring import Intake, assemble, build_handler, ingest_corpus, workers
from groundwire.wiring.handlers import Retrieving
from groundwire.wiring.workers import keeping_warm, warm

FILE = """version = 1
[[intents]]
label = "berths"
examples = ["What does a berth cost?", "Is a berth free?"]
[[intents]]
label = "tides"
examples = ["When is high water?", "How high is the tide?"]
"""


def log(event: str, /, **fields: object) -> None:
    """Nothing is expected."""
    raise AssertionError(event)


async def test_understand_learns_before_its_first_question(tmp_path: Path) -> None:
    """The classifier lies under the root once the handler is warm."""
    docs, root = tmp_path / "docs", tmp_path / "root"
    docs.mkdir()
    (docs / "a.md").write_text("A berth costs 20 a night.")
    (docs / "intents.toml").write_text(FILE)
    ingest_corpus(Intake([docs], root, "fast"), slow_later=True)
    handler = build_handler("understand", assemble("fast", root))
    assert not list(root.rglob("*.npz"))
    await warm(handler, log)
    assert len(list(root.rglob("*.npz"))) == 1
    found = await handler(Query(text="What is the price of a berth?", session_id="s"))
    assert isinstance(found, Intent)
    assert found.label == "berths"


async def test_a_new_version_is_loaded_before_anybody_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, as soon as it is current."""
    docs, root = tmp_path / "docs", tmp_path / "root"
    docs.mkdir()
    monkeypatch.setattr(workers, "WARM_S", 0.01)
    loaded = asyncio.Queue[str]()

    def ingest(text: str) -> None:
        (docs / "a.md").write_text(text)
        ingest_corpus(Intake([docs], root, "fast"), slow_later=True)

    ingest("A berth costs 20 a night.")
    assembly = assemble("fast", root)
    handler = build_handler("retrieve", assembly)
    assert isinstance(handler, Retrieving)

    async def load() -> None:
        loaded.put_nowait(assembly.corpus.current_version())

    monkeypatch.setattr(handler, "warm", load)
    async with keeping_warm(handler, assembly.corpus, log), asyncio.timeout(30):
        for text in ("A berth costs 30 a night.", "A berth costs 40 a night."):
            await asyncio.to_thread(ingest, text)
            assert await loaded.get() == assembly.corpus.current_version()
    assert loaded.empty()
