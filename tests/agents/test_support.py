"""The support score: what tells for a sentence that isn't verbatim, and what against it."""

import pytest

from agents.support import LinearSupport, windows
from groundwire import profiles

EVIDENCE = (
    "Annual plans can be refunded in full within 45 days of payment.",
    "Monthly plans are not refunded.",
    "Ask Dana Reyes for an invoice.",
    "Archives are kept in Lisbon for 10 years.",
)
TRUE = "An annual plan can be refunded in full within 45 days"


@pytest.fixture(scope="module")
def support() -> LinearSupport:
    part = profiles.load("default").critic
    return LinearSupport(part.weights, part.bias)


def test_a_window_is_one_sentence_or_two_that_follow_each_other() -> None:
    """Never the whole evidence, however long it is."""
    assert windows("abc") == [("a",), ("b",), ("c",), ("a", "b"), ("b", "c")]


def test_what_other_words_say_of_the_same_is_supported(support: LinearSupport) -> None:
    """Above the profile's threshold; further sentences of evidence take nothing away."""
    threshold = profiles.load("default").critic.threshold
    assert support(TRUE, EVIDENCE[:1]) >= threshold
    assert support(TRUE, EVIDENCE) >= support(TRUE, EVIDENCE[:1])


@pytest.mark.parametrize(
    "claim",
    [
        "An annual plan can be refunded in full within 90 days",
        "An annual plan can not be refunded in full within 45 days",
        "I think an annual plan can be refunded in full within 45 days",
        "Ask Peter Falk for an invoice.",
        "Annual plans can be refunded in Lisbon for 10 years.",
        "The weather will be fine.",
    ],
)
def test_a_number_a_negation_a_name_a_speaker_or_a_mixture_is_not(
    support: LinearSupport, claim: str
) -> None:
    """Each falls below the threshold that the true sentence passes."""
    assert support(claim, EVIDENCE) < profiles.load("default").critic.threshold


def test_nothing_is_supported_by_no_evidence(support: LinearSupport) -> None:
    """An empty list of sentences bears nothing out."""
    assert support(TRUE, ()) == 0.0


def test_no_weight_of_a_shipped_profile_is_negative() -> None:
    """Features that tell against a claim are below 0 themselves, so weights only say how much they tell."""
    for name in ("default", "fast"):
        assert min(profiles.load(name).critic.weights.values()) > 0
