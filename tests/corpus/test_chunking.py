"""Documents into passages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.corpus import Chunking, Document, chunk

PIECES = st.sampled_from(
    ["# Head", "## Sub", "A sentence. ", "e.g. this one! ", "| a | b |", "|---|---|", "- item",
     "```", "    code", "\n", "\n\n", " ", "\t", "word", "x" * 50, "Title\n===", "日本語。", "\u2028",
     "\x0b", "1. one", "---"]
)  # fmt: skip
TEXTS = st.one_of(st.text(), st.lists(PIECES).map("".join), st.lists(PIECES).map("\n".join))


def cut(text: str, chunking: Chunking, *, markdown: bool = True) -> Document:
    return chunk(Document("d", "D", "d.md", text, markdown=markdown), chunking)


def texts(text: str, size: int) -> list[str]:
    document = cut(text, Chunking("sentence", size))
    return [document.text_of(passage) for passage in document.passages]


@given(TEXTS, st.integers(20, 200), st.booleans(), st.sampled_from(["fixed", "sentence"]))
def test_every_character_that_is_not_blank_is_in_a_passage(
    text: str, size: int, markdown: bool, method: str
) -> None:
    """Whatever the text: what isn't in a passage could never be found."""
    chunking = Chunking("fixed", size, size // 4) if method == "fixed" else Chunking(size=size)
    document = cut(text, chunking, markdown=markdown)
    covered = [False] * len(text)
    for passage in document.passages:
        assert 0 <= passage.char_start < passage.char_end <= len(text)
        assert document.text_of(passage).strip()
        covered[passage.char_start : passage.char_end] = [True] * (
            passage.char_end - passage.char_start
        )
    assert all(text[n].isspace() for n, is_covered in enumerate(covered) if not is_covered)


@given(TEXTS, st.integers(20, 200))
def test_passages_of_plain_text_are_never_longer_than_the_size(text: str, size: int) -> None:
    """Headings don't count, and plain text has none."""
    document = cut(text, Chunking(size=size), markdown=False)
    assert all(len(document.text_of(passage)) <= size for passage in document.passages)


@given(TEXTS)
def test_the_same_text_has_the_same_passages(text: str) -> None:
    """Ids are stable when the text is."""
    assert cut(text, Chunking()) == cut(text, Chunking())


def test_fixed_windows_overlap_and_the_last_one_is_short() -> None:
    """Size 220, overlap 40: each window starts 180 after the one before."""
    document = cut("x" * 500, Chunking("fixed", 220, 40))
    spans = [(p.passage_id, p.char_start, p.char_end) for p in document.passages]
    assert spans == [("d_p0", 0, 220), ("d_p1", 180, 400), ("d_p2", 360, 500)]


def test_a_heading_opens_a_passage_and_stays_with_its_text() -> None:
    """No passage is a heading alone where there is text under it."""
    text = "# One\n\nFirst text.\n\n## Two\n\n### Three\n\nSecond text."
    document = cut(text, Chunking(size=20))
    assert [document.text_of(passage) for passage in document.passages] == [
        "# One\n\nFirst text.",
        "## Two\n\n### Three\n\nSecond text.",
    ]
    assert document.passages[1].heading_path == ("One", "Two", "Three")


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    """Abbreviations and decimals end no sentence."""
    text = "We ship, e.g. to Oslo. It costs 3.50 per parcel. Ask Dr. Who about it."
    assert texts(text, 30) == [
        "We ship, e.g. to Oslo.",
        "It costs 3.50 per parcel.",
        "Ask Dr. Who about it.",
    ]


def test_a_table_stays_together_with_its_header_where_it_fits() -> None:
    """A row without its header answers nothing."""
    table = "| Plan | Price |\n|---|---|\n| Solo | 5 |\n| Team | 9 |"
    text = f"Some words before the table, quite a few of them.\n\n{table}\n\nSome words after it."
    assert table in texts(text, 60)


def test_a_long_table_is_cut_between_rows() -> None:
    """Never within one."""
    rows = [f"| plan {n} | {n} |" for n in range(20)]
    text = "\n".join(["| Plan | Price |", "|---|---|", *rows])
    pieces = texts(text, 60)
    assert all(
        line.startswith("|") and line.endswith("|") for p in pieces for line in p.split("\n")
    )


def test_code_keeps_its_hashes() -> None:
    """A comment in a fenced block is no heading."""
    document = cut("# Real\n\n```\n# comment\n```\n", Chunking())
    assert [passage.heading_path for passage in document.passages] == [("Real",)]


def test_an_overlap_as_large_as_the_size_is_refused() -> None:
    """It would never end."""
    with pytest.raises(ValueError, match="overlap 40"):
        Chunking("fixed", 40, 40)
