"""The bench runs the product's own agent on a collection."""

from pathlib import Path

import pytest

from groundwire.evals.collection import Collection, Entry, Question, Skipped
from groundwire.evals.metrics import Interval
from groundwire.evals.retrieval import Measured, as_json, gains, lacking, measure, systems

COLLECTION = Collection(
    "mine",
    (
        Entry("a", "Refunds", "Money is sent back within 30 days."),
        Entry("b", "Berths", "A berth is kept for a year."),
        Entry("c", "Sheep", "They eat grass."),
    ),
    (
        Question("1", "refunds within how many days?", {"a": 1}),
        Question("2", "how long is a berth kept?", {"b": 1}),
    ),
    skipped=(Skipped("line 3", "is broken"),),
)


@pytest.mark.parametrize("name", ["default", "course", "bm25"])
async def test_each_system_finds_what_is_plain(tmp_path: Path, name: str) -> None:
    """And tells how far it is."""
    (system,) = (one for one in systems(["default"]) if one.name == name)
    if packages := lacking(system):
        pytest.skip(f"not installed: {', '.join(packages)}")
    told: list[tuple[str, int, int]] = []
    found = await measure(
        system, COLLECTION, cache=tmp_path, progress=lambda *step: told.append(step)
    )
    assert found.n == 2
    assert found.measures["hit@1"].mean == 1.0
    assert told[-1] == (f"{name}: questions", 2, 2)


async def test_the_report_names_systems_and_what_was_skipped(tmp_path: Path) -> None:
    """The shape that scripts read."""
    (bm25,) = (one for one in systems([]) if one.name == "bm25")
    found = await measure(bm25, COLLECTION, cache=tmp_path, progress=lambda *_: None)
    report = as_json(COLLECTION, [found])
    assert report["set"] == "mine"
    assert report["skipped"] == ["line 3: is broken"]
    measured = report["systems"]
    assert isinstance(measured, dict)
    assert set(measured["bm25"]) == {"ndcg@10", "recall@100", "mrr@10", "hit@1", "n", "intervals"}


def test_what_ranks_again_is_compared_with_its_fusion_question_by_question() -> None:
    """Only where both were measured: one of two questions gained, so half a point on average."""
    names = [one.name for one in systems(["default", "fast"])]
    assert names == ["default", "default, as fused", "fast", "course", "bm25"]
    measured = [
        Measured(name, 2, {"hit@1": Interval(0, 0, 0)}, {"hit@1": values})
        for name, values in (("default", [1.0, 1.0]), ("default, as fused", [0.0, 1.0]))
    ]
    assert gains(measured)["default"]["hit@1"].mean == 0.5
    assert gains(measured[:1]) == {}
