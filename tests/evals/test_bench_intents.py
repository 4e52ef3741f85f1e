"""The measures of labels and scope, on values worked out by hand and on a set of a few lines."""

import json
from pathlib import Path

import numpy as np
import pytest

from contracts import Misconfigured
from groundwire.cli.app import run
from groundwire.evals.intents import auroc, calibration_error, read, refused_at, reliability

KEYS = ["accuracy", "auroc", "recall_at_95", "ece", "p95_ms"]
TOPICS = {
    "tide": ["when is high water", "is the tide coming in", "how high is the tide today"],
    "berth": ["is a berth free tonight", "what does a berth cost", "how long is a berth"],
    "fuel": ["where can I buy diesel", "is there fuel at the quay", "what does fuel cost"],
}
FOREIGN = ["who painted this ceiling", "play some jazz", "why do cats purr", "tell me a joke"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A set in CLINC150's layout."""
    pairs = [[text, label] for label, texts in TOPICS.items() for text in texts]
    asked = [["when is the tide high", "tide"], ["a berth please", "berth"], ["fuel cost", "fuel"]]
    foreign = [[text, "oos"] for text in FOREIGN]
    found = {"train": pairs, "val": asked, "test": asked, "oos_val": foreign, "oos_test": foreign}
    (tmp_path / "harbour.json").write_text(json.dumps(found))
    return tmp_path


@pytest.mark.parametrize("profile", ["fast", "reference"])
def test_a_set_is_measured_with_exactly_five_figures(
    data: Path, profile: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By learning from examples, and by keywords alone."""
    command = ["bench", "intents", "--data", str(data), "--set", "harbour", "--profile", profile]
    assert run([*command, "--cache", str(data / "cache"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == KEYS
    assert found["accuracy"] == 1.0
    assert found["auroc"] > 0.7
    assert found["p95_ms"] > 0


def test_a_set_that_lacks_a_split_is_named(data: Path) -> None:
    """With the file."""
    path = data / "harbour.json"
    path.write_text(json.dumps({"train": [["a", "b"]], "test": [["a", "b"]]}))
    with pytest.raises(Misconfigured, match=r"harbour\.json: has no oos_test"):
        read(data, "harbour")
    with pytest.raises(Misconfigured, match="layout"):
        read(data, "nothing")


def test_a_set_may_be_named_by_its_folder(tmp_path: Path, data: Path) -> None:
    """`DIR/NAME/data_full.json`, as CLINC150 comes."""
    (tmp_path / "clinc").mkdir()
    (data / "harbour.json").rename(tmp_path / "clinc" / "data_full.json")
    assert read(tmp_path, "clinc").names == ("berth", "fuel", "tide")


def test_auroc_counts_ties_half() -> None:
    """The share of pairs in the right order."""
    assert auroc(np.array([2.0, 3.0]), np.array([0.0, 1.0])) == 1.0
    assert auroc(np.array([1.0, 3.0]), np.array([1.0, 2.0])) == pytest.approx(2.5 / 4)


def test_what_is_refused_is_counted_where_the_share_is_kept() -> None:
    """At 95 % of twenty-one the lowest falls away."""
    inside = np.arange(21.0)
    assert refused_at(0.95, inside, np.array([-1.0, 0.0, 1.0, 7.0])) == 0.5


def test_calibration_error_is_the_mean_gap_by_bin() -> None:
    """Weighted by how many are in a bin; a confidence of 1 has its bin too."""
    confidence, right = np.array([1.0, 1.0, 0.5, 0.5]), np.array([True, True, True, False])
    assert calibration_error(confidence, right) == 0.0
    assert calibration_error(confidence, ~right) == pytest.approx(0.5)
    assert reliability(confidence, right) == [(0.5, 0.5, 0.5), (1.0, 1.0, 0.5)]
