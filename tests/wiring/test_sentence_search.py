"""A profile that wants vectors of sentences ranks by them; one that doesn't has none."""

from pathlib import Path

import pytest

from groundwire import profiles
from groundwire.corpus import CorpusStore
from groundwire.models import missing
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
