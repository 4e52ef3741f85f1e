"""Whatever bytes a file holds, reading it yields documents or reasons, and never raises."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from print_shop import pdf
from texts import TEXTS

from groundwire.corpus import Chunking, Source, chunk, read_source
from groundwire.corpus.reading import DATA, PAGES

ENCODINGS = st.sampled_from(["utf-8", "utf-16", "utf-32", "latin-1", "shift_jis"])
TAGS = st.sampled_from(
    ["<p>", "</p>", "<ul><li>", "<table><tr><td>", "</table>", "<nav>", "</nav>", "<main>", "<h2>", "<pre>", "<br>"]
)  # fmt: skip
HTML = st.lists(st.one_of(TAGS, TEXTS), max_size=12).map("".join)
BYTES = st.one_of(
    st.binary(),
    st.tuples(st.one_of(TEXTS, HTML), ENCODINGS).map(
        lambda pair: pair[0].encode(pair[1], "replace")
    ),
    st.tuples(st.binary(max_size=30), st.integers(0, 600)).map(
        lambda pair: pdf([["Words of a page."]])[: pair[1]] + pair[0]
    ),
)


@pytest.mark.parametrize("ending", sorted({*PAGES, *DATA}))
@settings(deadline=None, max_examples=25)
@given(raw=BYTES)
def test_reading_never_raises_and_what_it_yields_can_be_cut_and_cited(
    ending: str, raw: bytes
) -> None:
    """Each document is canonical, each of its characters is in a passage, and each passage has a place."""
    reading = read_source(Source(f"a{ending}", raw))
    assert reading.documents or reading.problems
    for found in reading.documents:
        assert found.text.strip()
        assert "\r" not in found.text
        if ending != ".jsonl":
            assert unicodedata.is_normalized("NFC", found.text)
        document = chunk(found, Chunking("structure", 100))
        words = "".join(document.text_of(passage) for passage in document.passages)
        assert "".join(words.split()) == "".join(document.text.split())
        for passage in document.passages:
            assert document.origin is None or document.place(passage.char_start) is not None
        document.text.encode()
