"""A profile that wants vectors of sentences ranks by them; one that doesn't has none."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire import profiles
from groundwire.corpus import CorpusStore
from groundwire.models import Cached, missing
from groundwire.wiring import Intake, ingest_corpus
from groundwire.wiring.assembly import Assembly
from groundwire.wiring.ranking import ranking_of, search_of
from groundwire.wiring.retrieval import asking
from groundwire.wiring.rules import Reader

pytestmark = pytest.mark.skipif(bool(missing("wordllama")), reason="needs groundwire[vectors]")
LONG = "The harbour was built long ago. Its walls are grey. Gulls sit there. Ferries leave at six. It is windy."


@pytest.mark.parametrize("wants", [True, False])
async def test_the_best_sentence_is_a_feature_where_the_profile_wants_it(
    tmp_path: Path, *, wants: bool
) -> None:
    """And the part is in the snapshot then, and only then."""
    from agents.retrieve import look_again, shortlist

    (tmp_path / "docs").mkdir()
    for name, text in (
        ("harbour", LONG),
        (
            "tugs",
            "Tugs are blue. They are slower than ferries and never leave the harbour in winter.",
        ),
    ):
        (tmp_path / "docs" / f"{name}.md").write_text(f"# {name}\n\n{text}\n")
    default = profiles.load("default")
    retrieve = default.retrieve.model_copy(update={"embedder": "wordllama", "sentences": wants})
    profile = default.model_copy(update={"retrieve": retrieve})
    ingest_corpus(Intake([tmp_path / "docs"], tmp_path / "root", profile))
    store = CorpusStore(tmp_path / "root")
    assert ("sentences" in store.current().manifest.parts) is wants
    search = search_of(profile, Reader(Assembly(profile, store)))
    asked = asking("When do the ferries leave?")
    found = await search(asked.cleaned_text, asked.query.labels)
    assert (found.nearest is not None) is wants
    ranking = ranking_of(profile)
    told = look_again(asked.cleaned_text, found, shortlist(found, ranking), ranking)
    assert max(one.sentence for one in told) == 0.0
    assert (min(one.sentence for one in told) < 0.0) is wants


class Counted:
    """An embedder that keeps what it was asked for."""

    dimensions = 4

    def __init__(self, model_id: str) -> None:
        self.model_id = model_id
        self.asked: Counter[str] = Counter()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows that tell texts apart by their length."""
        self.asked.update(texts)
        rows = np.array([[1.0, len(text), len(text) ** 2, 1.0] for text in texts], np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


def test_scope_and_search_read_each_sentence_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no intents are configured both want its vector; once it is gone from the documents neither keeps it."""
    model = Counted("minilm")
    others = {"minilm": model, "wordllama": Counted("wordllama")}
    monkeypatch.setattr("groundwire.models.open_embedder", lambda name, *_: others[name])
    docs, root = tmp_path / "docs", tmp_path / "root"
    docs.mkdir()
    (docs / "harbour.md").write_text(f"# Harbour\n\n{LONG}\n")
    profile = profiles.load("default")
    ingest_corpus(Intake([docs], root, profile))
    assert {"sentences", "scope_neural"} <= set(CorpusStore(root).current().manifest.parts)
    assert model.asked["Ferries leave at six."] == 1
    (docs / "harbour.md").write_text("# Harbour\n\nThe harbour was built long ago.\n")
    ingest_corpus(Intake([docs], root, profile))
    assert model.asked["# Harbour\n\nThe harbour was built long ago."] == 1
    for cache in ("sentences", "scope"):
        assert Cached(model, root / f"{cache}.sqlite").unknown(["Ferries leave at six."]) == 1
