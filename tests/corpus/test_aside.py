"""What isn't a document's own word is taken out, and nothing else is different for it."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from texts import TEXTS

from contracts import Invalid
from groundwire.corpus import (
    Aside,
    Chunking,
    CorpusStore,
    Document,
    Passage,
    Place,
    Recipe,
    Sieve,
    Source,
    chunk,
    in_memory,
    ingest,
    read_source,
)
from groundwire.corpus.aside import sifted

STRANGE = "Zzz strange words."


def tell(sentences: Sequence[str]) -> list[tuple[int, int] | None]:
    return [_strange(one) for one in sentences]


def _strange(sentence: str) -> tuple[int, int] | None:
    """From it on, all of the sentence if it begins with it; else up to a full stop or the end of a cell."""
    begin = sentence.find("Zzz")
    if begin < 0:
        return None
    is_whole = not re.search(r"\w", sentence[:begin])
    end = sentence.find(". ", begin) + 1 or (0 if is_whole else sentence.find(" |", begin))
    return begin, end if end > 0 and not is_whole else len(sentence)


SIEVE = Sieve("zzz-1", lambda text: "Zzz" in text, tell)
RECIPE = Recipe(Chunking(size=80), sieve=SIEVE)
PAGE = """# Refunds

We refund all of it. Ask us
for the form.

- Plans: within 45 days.
- Parcels: within 9.

| plan | days |
| --- | --- |
| gold | 60 |

## Where

By post. Or here.
"""


def read(text: str, name: str = "a.md") -> Document:
    (document,) = read_source(Source(name, text.encode())).documents
    return document


@pytest.mark.parametrize(
    ("where", "planted"),
    [
        ("# Refunds", f"{STRANGE}\n\n# Refunds"),
        ("# Refunds", f"# {STRANGE}\n\n# Refunds"),
        ("all of it. ", f"all of it. {STRANGE} "),
        ("the form.", f"the form. {STRANGE}"),
        ("the form.", f"the form.\n{STRANGE}"),
        ("of it. Ask", f"of it.\n\n{STRANGE}\n\n Ask"),
        ("- Parcels", f"- {STRANGE}\n- Parcels"),
        ("within 9.", f"within 9.\n- {STRANGE}\n  {STRANGE}"),
        ("| gold | 60 |", f"| {STRANGE} | 1 |\n| gold | 60 |"),
        ("| gold | 60 |", "| gold Zzz | 60 |"),
        ("| gold | 60 |", "| gold | 60 Zzz |"),
        ("- Parcels", f"1. {STRANGE}\n- Parcels"),
        ("## Where", f"## Where {STRANGE}"),
        ("within 45 days.", f"within {STRANGE} 45 days."),
        ("Ask us\n", f"Ask us {STRANGE}\n"),
        ("## Where\n", f"{STRANGE}\n{STRANGE}\n\n## Where\n"),
        ("## Where\n", f"## Where\n\n### {STRANGE}\n"),
        ("here.\n", f"here.\n\n> {STRANGE}\n"),
    ],
)
def test_a_page_is_as_if_it_had_never_been_there(where: str, planted: str) -> None:
    """The title, each passage, its id and its headings are those of the page without it."""
    assert PAGE.count(where) == 1
    clean, sieved = RECIPE.cut(read(PAGE)), RECIPE.cut(read(PAGE.replace(where, planted)))
    assert sieved.title == clean.title
    assert sieved.text.strip() == clean.text.strip()
    passages = [(one.passage_id, one.heading_path, clean.text_of(one)) for one in clean.passages]
    assert passages == [
        (one.passage_id, one.heading_path, sieved.text_of(one)) for one in sieved.passages
    ]
    assert {one.text.startswith("Zzz") for one in sieved.aside} == {True}


@settings(deadline=None, max_examples=200)
@given(parts=st.lists(st.one_of(TEXTS, st.just(f"\n\n{STRANGE}\n\n"), st.just(f" {STRANGE} "))))
def test_what_is_left_is_in_passages_and_on_its_line(parts: list[str]) -> None:
    """Every character that isn't blank, of any text; what is set aside is kept word by word."""
    text = "".join(part.replace("\r", "") for part in parts)
    document = Document("a.md", "a", "a.md", text, origin=read("x").origin)
    sieved = RECIPE.cut(document)
    words = "".join(sieved.text_of(one) for one in sieved.passages)
    assert "".join(words.split()) == "".join(sieved.text.split())
    lines = text.split("\n")
    for at, char in enumerate(sieved.text):
        place = sieved.place(at)
        assert char.isspace() or (place is not None and char in lines[place.number - 1])
    for one in sieved.aside:
        assert one.text in text
        assert one.place is not None
        assert one.text.split("\n")[0] in lines[one.place.number - 1]


@settings(deadline=None, max_examples=200)
@given(
    parts=st.lists(
        st.one_of(
            TEXTS, st.just(f" {STRANGE} "), st.just(f" {STRANGE}\n"), st.just("| a Zzz | b |\n")
        )
    )
)
def test_what_is_kept_and_what_is_set_aside_is_the_text(parts: list[str]) -> None:
    """Taken out of the text where it was told to be, it leaves what is kept, but for marks and blanks around it."""
    each = itertools.count()
    text = re.sub("Zzz", lambda found: f"Zzz{next(each)}-", "".join(parts).replace("\r", ""))
    sieved = sifted(Document("a.md", "a", "a.md", text, origin=read("x").origin), SIEVE)
    rest, begin = "", 0
    for one in sieved.aside:
        at = text.index(one.text, begin)
        rest, begin = rest + text[begin:at], at + len(one.text)
    assert _words(rest + text[begin:]) == _words(sieved.text)


def _words(text: str) -> str:
    return "".join(re.findall(r"\w", text))


def test_passages_that_came_ready_move_up() -> None:
    """One of which nothing is left is no passage; code is never looked into."""
    text = f"One. {STRANGE}\n\n{STRANGE}\n\nThree.\n\n```\nZzz\n```"
    places = [(0, 23), (25, 43), (45, 51), (53, len(text))]
    passages = tuple(Passage(f"p{at}", *place) for at, place in enumerate(places))
    found = sifted(Document("a", "Zzz", "a.jsonl", text, passages=passages), SIEVE)
    assert [(one.passage_id, found.text_of(one)) for one in found.passages] == [
        ("p0", "One."),
        ("p2", "Three."),
        ("p3", "```\nZzz\n```"),
    ]
    assert (found.title, found.aside[0]) == ("a", Aside("a", "Zzz"))


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text(f"# Page\n\nOne. {STRANGE} Two.\n")
    (folder / "b.md").write_text(f"{STRANGE}\n")
    return folder


def test_every_ingestion_names_it(docs: Path, tmp_path: Path) -> None:
    """Also one that finds nothing new; a document of nothing else is kept, without passages."""
    told = (Aside("a.md", STRANGE, Place("line", 3)), Aside("b.md", STRANGE, Place("line", 1)))
    for is_new in (True, False):
        done = ingest([docs], tmp_path / "root", RECIPE)
        assert (done.is_new, done.aside, done.passages) == (is_new, told, 1)
    stored = CorpusStore(tmp_path / "root").current()
    assert stored.documents["a.md"].aside == told[:1]
    assert list(stored.documents.stream()) == list(
        in_memory([docs], RECIPE.chunking, sieve=SIEVE)[0].documents.stream()
    )


def test_another_sieve_cuts_anew(docs: Path, tmp_path: Path) -> None:
    """Nothing that the one before it set aside or let through is taken over."""
    root = tmp_path / "root"
    first = ingest([docs], root, RECIPE)
    second = ingest([docs], root, replace(RECIPE, sieve=None))
    assert (second.version != first.version, second.aside, second.passages) == (True, (), 2)
    lenient = Sieve("none-1", lambda text: False, tell)
    assert ingest([docs], root, replace(RECIPE, sieve=lenient)).version != second.version


def test_a_corpus_of_nothing_else_is_refused(docs: Path, tmp_path: Path) -> None:
    """It says why."""
    (docs / "a.md").unlink()
    with pytest.raises(Invalid, match=r"b\.md: holds nothing but what is set aside"):
        ingest([docs], tmp_path / "root", RECIPE)


def test_without_a_sieve_documents_are_cut_as_they_are() -> None:
    """Also the manifest says nothing of one."""
    page = read(f"{PAGE}\n{STRANGE}\n")
    plain = Recipe(Chunking(size=80))
    assert plain.cut(page) == chunk(page, plain.chunking)
    assert "sieve" not in plain.cutting
