"""A question is read without markup, invisible characters and look-alikes; the original stays in its query."""

import time

import pytest

from agents.cleaning import clean
from agents.entities import Vocabulary
from agents.keywords import Category, KeywordClassifier
from agents.understand import understand
from contracts import Intent, Query


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  two\n\tlines  ", "two lines"),
        ("cafe\u0301", "café"),
        ("<p>Hello&nbsp;<b>there</b></p>", "Hello there"),
        ("a &lt;b&gt; c &amp; d", "a <b> c & d"),
        ("<script>alert('x')</script>refund<!-- no -->?", "refund ?"),
        ("re\u200bfund\u00ad\ufeff\x00 \u202eplease", "refund please"),
        ("r\u0435fund", "refund"),
        ("ｒｅｆｕｎｄ？", "refund?"),
        ("GET /v1/<workspace>/entries, is 1 < 2?", "GET /v1/<workspace>/entries, is 1 < 2?"),
        ("Как отменить?", "Как отменить?"),
        ("👩\u200d💻 नमस्\u200dते", "👩\u200d💻 नमस्\u200dते"),
        ("\ud800?", "\ufffd?"),
    ],
)
def test_a_question_is_cleaned(text: str, expected: str) -> None:
    """NFC, no HTML, no control or zero-width characters, one script in a word, single blanks."""
    assert clean(text) == expected


def test_cleaning_what_is_clean_changes_nothing() -> None:
    """Read twice, it says the same."""
    text = "Can I get a <refund> for €39 & more?"
    assert clean(clean(text)) == clean(text) == text


@pytest.mark.parametrize("piece", ["<", "<script>", "<!--", "&", "<a ", "\u0430b"])
def test_the_longest_question_of_any_kind_is_cleaned_in_no_time(piece: str) -> None:
    """8,000 characters that begin something and never end it: no expression runs away."""
    started = time.process_time()
    clean((piece * 8_000)[:8_000])
    assert time.process_time() - started < 2.0


async def test_the_original_is_kept_beside_the_cleaned_text() -> None:
    """What was sent is in the query, what was read is in the intent."""
    classifier = KeywordClassifier((Category("refunds", (("refund", 1),)),), Vocabulary(), 0.3)
    sent = Query(text="<b>r\u0435fund</b> ?", session_id="s")
    found = await understand(sent, classifier=classifier)
    assert isinstance(found, Intent)
    assert (found.query.text, found.cleaned_text) == (sent.text, "refund ?")
