"""Workers that are warm before they say that they are ready."""

from pathlib import Path

from contracts import Intent, Query
from groundwire.wiring import assemble, build_handler, ingest_corpus
from groundwire.wiring.workers import warm

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
    ingest_corpus([docs], root, profile="fast", slow_later=True)
    handler = build_handler("understand", assemble("fast", root))
    assert not list(root.rglob("*.npz"))
    await warm(handler, log)
    assert len(list(root.rglob("*.npz"))) == 1
    found = await handler(Query(text="What is the price of a berth?", session_id="s"))
    assert isinstance(found, Intent)
    assert found.label == "berths"
