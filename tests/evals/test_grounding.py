"""`bench grounding`: reading claims, making them, measuring a score."""

import json
import os
import random
from pathlib import Path

import pytest

from contracts import Misconfigured
from groundwire import profiles
from groundwire.evals import grounding
from groundwire.wiring import build_support

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / os.environ.get("GROUNDWIRE_DATA", "../shared/data")
HEAD = "\t".join(grounding.COLUMNS)


def begin(folder: Path, *rows: str) -> Path:
    path = folder / "begin.tsv"
    path.write_text("\n".join([HEAD, *rows, ""]), encoding="utf-8")
    return path


def test_quotes_are_characters_and_generic_rows_are_dropped(tmp_path: Path) -> None:
    """Tab-separated without quoting: a lone quote swallows no row."""
    path = begin(
        tmp_path,
        'a\twow\tThe "crow is black.\t?\tIt is "black.\tFully attributable',
        "a\twow\tA crow.\t?\tIt sings.\tNot fully attributable",
        "a\twow\tA crow.\t?\tOh!\tGeneric",
    )
    found = grounding.read(path)
    assert [(one.text, one.is_supported) for one in found.claims] == [
        ('It is "black.', True),
        ("It sings.", False),
    ]
    assert found.dropped == 1


def test_a_file_in_another_layout_is_refused_with_its_row(tmp_path: Path) -> None:
    """Nothing is guessed."""
    with pytest.raises(Misconfigured, match="row 2"):
        grounding.read(begin(tmp_path, "a\tb"))
    (tmp_path / "other.tsv").write_text("text\tlabel\n")
    with pytest.raises(Misconfigured, match="first line"):
        grounding.read(tmp_path / "other.tsv")


def test_a_claim_is_changed_in_one_thing_at_a_time() -> None:
    """Its number, its name, its negation; the same seed makes the same."""
    claim, other = "In the end Dana paid 45 euros and was glad.", "There was Peter too."
    changed = dict(grounding.altered(claim, other, random.Random(1)))
    assert changed == dict(grounding.altered(claim, other, random.Random(1)))
    assert set(changed) == {"number", "name", "negation"}
    assert "Peter paid 45" in changed["name"]
    assert "was not glad" in changed["negation"]
    assert "45" not in changed["number"]


def test_long_claims_have_four_sources_and_their_own_passage_as_evidence(tmp_path: Path) -> None:
    """What annotators wrote is supported; what is of another passage, joined or changed isn't."""
    rows = []
    for name in ("Anna", "Boris"):
        sentences = [
            f"The house of {name} was built on hill {n} by many masons there." for n in range(3)
        ]
        passage = {"title": "T", "text": " ".join(sentences), "sentences": sentences}
        answer = f"We know the house of {name} was built there."
        rows.append({"id": name, "passages": [passage], "output": [{"answer": answer}]})
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "clapnq_dev_answerable.jsonl").write_text(lines)
    found = grounding.read(tmp_path)
    assert {one.kind for one in found.claims if one.is_supported} == {"written"}
    assert {one.kind for one in found.claims if not one.is_supported} == {
        "of another passage",
        "joined",
        "another name",
        "another negation",
    }


@pytest.mark.skipif(not DATA.is_dir(), reason="no published sets here")
def test_the_shipped_weights_tell_begins_dev_file_apart() -> None:
    """They were learned on it: a change of a feature that forgets the weights shows here."""
    profile = profiles.load("default")
    found = grounding.read(DATA / "begin" / "begin_dev_wow.tsv")
    measured = grounding.measure(found, build_support(profile), profile.critic.threshold)
    assert measured.auroc == pytest.approx(0.9726, abs=0.0005)
    assert measured.kept > 0.8
    assert measured.refused["response"] > 0.94
