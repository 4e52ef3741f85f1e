"""Documents into passages."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import TEXTS

from groundwire.corpus import Chunking, Document, Passage, chunk
from groundwire.corpus.chunking.sentences import sentences

LATE = Document(
    "d", "D", "d.md", "- The parsers are imported late. So do it before anything is timed."
)
chunk(LATE, Chunking("structure", 40))

METHODS = st.sampled_from(["fixed", "structure", "windows"])


def cut(text: str, chunking: Chunking | None = None, *, markdown: bool = True) -> Document:
    return chunk(Document("d", "D", "d.md", text, markdown=markdown), chunking or Chunking())


def texts(text: str, size: int, *, markdown: bool = True) -> list[str]:
    document = cut(text, Chunking("structure", size), markdown=markdown)
    return [document.text_of(passage) for passage in document.passages]


@given(TEXTS, st.integers(20, 200), st.booleans(), METHODS)
def test_every_character_that_is_not_blank_is_in_a_passage(
    text: str, size: int, markdown: bool, method: str
) -> None:
    """Whatever the text: what isn't in a passage could never be found."""
    overlap = size // 4 if method == "fixed" else 0
    document = cut(text, Chunking(method, size, overlap), markdown=markdown)
    covered = [False] * len(text)
    for passage in document.passages:
        assert 0 <= passage.char_start < passage.char_end <= len(text)
        assert document.text_of(passage).strip()
        covered[passage.char_start : passage.char_end] = [True] * (
            passage.char_end - passage.char_start
        )
    assert all(text[n].isspace() for n, is_covered in enumerate(covered) if not is_covered)


@given(TEXTS, st.integers(20, 200), st.booleans(), METHODS)
def test_passages_are_in_order_and_have_ids_of_their_own(
    text: str, size: int, markdown: bool, method: str
) -> None:
    """Only `windows` overlap here, and none lies within another; sections only count up."""
    passages = cut(text, Chunking(method, size), markdown=markdown).passages
    assert len({passage.passage_id for passage in passages}) == len(passages)
    for one, next_one in pairwise(passages):
        assert one.char_start < next_one.char_start
        assert one.char_end < next_one.char_end
        assert method == "windows" or one.char_end <= next_one.char_start
        assert one.section <= next_one.section


@given(TEXTS, st.integers(20, 200))
def test_a_context_is_other_words_of_the_same_document_before_the_passage(
    text: str, size: int
) -> None:
    """It can be quoted as verbatim as the passage."""
    document = cut(text, Chunking("structure", size))
    for passage in document.passages:
        if passage.context is not None:
            start, end = passage.context
            assert 0 <= start < end <= passage.char_start
            assert document.text[start:end].strip()


@given(TEXTS, st.integers(20, 200))
def test_passages_of_plain_text_are_never_longer_than_the_size(text: str, size: int) -> None:
    """Headings don't count, and plain text has none."""
    assert all(len(words) <= size for words in texts(text, size, markdown=False))


@given(TEXTS, st.integers(20, 200), st.booleans())
def test_windows_are_never_longer_than_the_size(text: str, size: int, markdown: bool) -> None:
    """Their headings count."""
    passages = cut(text, Chunking("windows", size), markdown=markdown).passages
    assert all(one.char_end - one.char_start <= size for one in passages)


def test_a_window_begins_at_every_sentence() -> None:
    """As many whole sentences as fit; one that would lie within the window before is left out."""
    document = cut("# Bus\n\nOne is short. Two is too. Three ends.", Chunking("windows", 26))
    told = [document.text_of(passage) for passage in document.passages]
    assert told == [
        "# Bus\n\nOne is short.",
        "One is short. Two is too.",
        "Two is too. Three ends.",
    ]
    assert {one.heading_path for one in document.passages} == {("Bus",)}


@given(TEXTS, st.integers(20, 200))
def test_the_same_text_has_the_same_passages(text: str, size: int) -> None:
    """Ids are stable when the text is."""
    chunking = Chunking("structure", size)
    assert cut(text, chunking) == cut(text, chunking)


@given(TEXTS, TEXTS, st.integers(20, 200))
def test_an_edit_in_one_section_leaves_the_others_as_they_were(
    text: str, other: str, size: int
) -> None:
    """Ids, offsets from the section's own start, and contexts."""
    head, chunking = "# First\n\nSome words.\n\n# Second\n\n", Chunking("structure", size)
    before, after = cut(f"{head}{text}", chunking), cut(f"{head}{other}", chunking)
    assert before.passages[0] == after.passages[0]


def long_text(seed: int, paragraphs: int) -> list[str]:
    numbers = random.Random(seed)
    return [
        " ".join(
            f"Word {numbers.randrange(10_000)} is here." for _ in range(numbers.randrange(2, 9))
        )
        for _ in range(paragraphs)
    ]


def test_an_edit_of_a_long_text_without_headings_changes_only_the_passages_around_it() -> None:
    """A page of a PDF has no headings either."""
    paragraphs = long_text(7, 400)
    before = {p.passage_id for p in cut("\n\n".join(paragraphs), markdown=False).passages}
    worst = 0
    for place in range(5, 400, 40):
        edited = [*paragraphs[:place], "An entirely new paragraph.", *paragraphs[place + 1 :]]
        after = {p.passage_id for p in cut("\n\n".join(edited), markdown=False).passages}
        worst = max(worst, len(after - before))
    assert len(before) > 50
    assert worst <= 12


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


@given(TEXTS, st.integers(20, 200))
def test_a_passage_of_markdown_is_at_most_its_headings_and_a_size(text: str, size: int) -> None:
    """Headings that are longer than a passage are passages themselves."""
    found = texts("# Head\n" * 30 + text, size)
    assert all(len("".join(words.split())) <= 2 * size for words in found)


def test_passages_of_one_section_carry_its_number() -> None:
    """So that neighbours can be read as one."""
    document = cut("# A\n\nOne.\n\nTwo.\n\n# B\n\nThree.", Chunking(size=20))
    assert [passage.section for passage in document.passages] == [0, 1]
    split = cut("# A\n\nOne, quite long.\n\nTwo, quite long.\n\n# B\n\nThree.", Chunking(size=20))
    assert [passage.section for passage in split.passages] == [0, 0, 1]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    """Abbreviations and decimals end no sentence."""
    text = "We ship, e.g. to Oslo. It costs 3.50 per parcel. Ask Dr. Who about it."
    assert texts(text, 30) == [
        "We ship, e.g. to Oslo.",
        "It costs 3.50 per parcel.",
        "Ask Dr. Who about it.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("最初の文です。次の文です！最後の文？", ["最初の文です。", "次の文です！", "最後の文？"]),
        ("هذا نص طويل؟ وهذا آخر.", ["هذا نص طويل؟", "وهذا آخر."]),
        ("यह पहला है। यह दूसरा है।", ["यह पहला है।", "यह दूसरा है।"]),
        (
            "See [it all.](http://a.b/c) and go. Then stop.",
            ["See [it all.](http://a.b/c) and go.", "Then stop."],
        ),
    ],
    ids=["japanese", "arabic", "hindi", "link"],
)
def test_sentences_end_in_other_scripts_and_not_inside_a_link(
    text: str, expected: list[str]
) -> None:
    """Where the library's own ends are for Latin prose."""
    from groundwire.corpus.chunking.sentences import sentences

    assert [text[start:end].strip() for start, end in sentences(text, 0, len(text))] == expected


@pytest.mark.timeout(60)
def test_an_endless_word_is_cut_in_time_and_the_sentences_around_it_are_kept() -> None:
    """Half a million stops without a blank took nupunkt a quarter of an hour: one page held up an ingestion."""
    text = "One ends here. " + '."' * 500_000 + " Two ends here. Three does too."
    found = list(sentences(text, 0, len(text)))
    assert text[slice(*found[0])] == "One ends here. "
    assert text[slice(*found[-1])] == "Three does too."
    assert [end for _, end in found[:-1]] == [begin for begin, _ in found[1:]]
    assert sum(end - begin for begin, end in found) == len(text)


def test_a_list_stays_with_its_lead_in_where_it_fits() -> None:
    """Items without it answer nothing."""
    text = "A paragraph of its own here.\n\nYou can pay by:\n\n- card\n- wire\n- cheque"
    assert texts(text, 45)[-1] == "You can pay by:\n\n- card\n- wire\n- cheque"


def contexts(text: str, size: int) -> list[tuple[str, str]]:
    document = cut(text, Chunking("structure", size))
    return [
        (document.text_of(p), text[slice(*p.context)] if p.context else "")
        for p in document.passages
    ]


def test_an_item_of_a_long_list_carries_the_lead_in() -> None:
    """As a span of its own, to be quoted beside the item."""
    text = "You can pay by:\n\n- card, at once\n- wire, in days\n- cheque, in weeks"
    assert contexts(text, 20) == [
        ("You can pay by:", ""),
        ("- card, at once", "You can pay by:"),
        ("- wire, in days", "You can pay by:"),
        ("- cheque, in weeks", "You can pay by:"),
    ]


def test_a_nested_item_carries_the_item_it_belongs_to() -> None:
    """The nearest lead-in is the one that it is part of."""
    text = "Plans:\n\n- Team plan has\n  - ten whole seats\n  - a log of changes"
    assert contexts(text, 20)[2:] == [
        ("- ten whole seats", "- Team plan has"),
        ("- a log of changes", "- Team plan has"),
    ]


def test_a_finished_paragraph_is_no_lead_in() -> None:
    """Else every list would carry what happens to stand above it."""
    text = "This is said and done.\n\n- an item of the list\n- an item that follows"
    assert [context for _, context in contexts(text, 25)] == ["", "", ""]


def test_a_table_stays_together_with_its_header_where_it_fits() -> None:
    """A row without its header answers nothing."""
    table = "| Plan | Price |\n|---|---|\n| Solo | 5 |\n| Team | 9 |"
    text = f"Some words before the table, quite a few of them.\n\n{table}\n\nSome words after it."
    assert table in texts(text, 60)


def test_a_row_of_a_long_table_carries_its_header() -> None:
    """Rows are cut between, never within, and each passage that lacks the header points to it."""
    rows = [f"| plan {n} | {n} |" for n in range(20)]
    found = contexts("\n".join(["| Plan | Price |", "|---|---|", *rows]), 60)
    assert found[0] == ("| Plan | Price |\n|---|---|\n| plan 0 | 0 |\n| plan 1 | 1 |", "")
    assert {context for _, context in found[1:]} == {"| Plan | Price |"}
    assert all(row.startswith("| plan") for words, _ in found[1:] for row in words.split("\n"))


def test_code_keeps_its_hashes_and_is_cut_between_lines() -> None:
    """A comment in a fenced block is no heading."""
    document = cut("# Real\n\n```\n# comment\n```\n", Chunking())
    assert [passage.heading_path for passage in document.passages] == [("Real",)]
    lines = "\n".join(["```", *("x = compute()" for _ in range(9)), "```"])
    assert all(
        line in ("```", "x = compute()") for words in texts(lines, 30) for line in words.split("\n")
    )


def test_definitions_of_links_are_text_like_any_other() -> None:
    """A Markdown parser takes them for nothing; nothing may be lost."""
    assert "[terms]: http://example.com/terms" in texts(
        "See [terms].\n\n[terms]: http://example.com/terms", 40
    )


def test_equal_paragraphs_are_two_passages_with_ids_of_their_own() -> None:
    """The second is cited as the second."""
    document = cut("Same words here.\n\nSame words here.", Chunking(size=20), markdown=False)
    first, second = document.passages
    assert document.text_of(first) == document.text_of(second) == "Same words here."
    assert (first.char_start, second.char_start) == (0, 18)
    assert second.passage_id == f"{first.passage_id}-2"


def test_the_same_text_in_two_documents_is_two_passages() -> None:
    """Each names its document."""
    one = chunk(Document("one.md", "T", "one.md", "Same words."), Chunking())
    two = chunk(Document("two.md", "T", "two.md", "Same words."), Chunking())
    assert one.passages[0].passage_id != two.passages[0].passage_id


def test_a_document_that_came_in_passages_keeps_them() -> None:
    """Someone else cut it already."""
    passages = (Passage("p", 0, 5),)
    document = Document("d", "D", "d", "words", passages=passages)
    assert chunk(document, Chunking()).passages == passages


def test_sizes_that_would_never_end_and_unknown_methods_are_refused() -> None:
    """With what is wrong."""
    with pytest.raises(ValueError, match="overlap 40"):
        Chunking("fixed", 40, 40)
    with pytest.raises(ValueError, match=r"no method 'sentence'.*fixed, structure"):
        Chunking("sentence")


def test_an_admonition_is_cut_between_sentences() -> None:
    """Its text is indented as code is, and for CommonMark it is code."""
    text = '!!! note "Refunds"\n\n    They take thirty days. They are made to the card. They are final.'
    assert texts(text, 30)[1:] == [
        "They take thirty days.",
        "They are made to the card.",
        "They are final.",
    ]
