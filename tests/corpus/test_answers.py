"""Questions and answers into documents."""

import json

import pytest

from groundwire.corpus import Chunking, Place, Reading, Source, chunk, read_source

PAIRS = [
    {"question": "Can I  get a refund?", "answer": "Yes, within 45 days."},
    {"question": "Who pays?", "answer": "We do.\n\nAlways."},
]
TEXT = "## Can I get a refund?\n\nYes, within 45 days.\n\n## Who pays?\n\nWe do.\n\nAlways.\n\n"
CSV = 'Answer;Question\nYes, within 45 days.;Can I  get a refund?\n"We do.\n\nAlways.";Who pays?\n'


def read(name: str, text: str) -> Reading:
    return read_source(Source(name, text.encode()))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("faq.jsonl", "\n".join(map(json.dumps, PAIRS))),
        ("faq.json", json.dumps(PAIRS)),
        ("faq.json", json.dumps({"faq": PAIRS})),
        ("faq.json", json.dumps({one["question"]: one["answer"] for one in PAIRS})),
        ("faq.csv", CSV),
        ("faq.tsv", CSV.replace(";", "\t")),
    ],
    ids=["lines", "list", "named list", "mapping", "semicolons", "tabs"],
)
def test_each_question_is_the_heading_of_its_answer(name: str, text: str) -> None:
    """Whatever the file: a section for each, so that question and answer are found as one."""
    reading = read(name, text)
    assert not reading.problems
    document = chunk(reading.documents[0], Chunking())
    assert document.text == TEXT
    assert [passage.heading_path for passage in document.passages] == [
        ("Can I get a refund?",),
        ("Who pays?",),
    ]


def test_a_row_can_be_cited_as_a_spreadsheet_counts_it() -> None:
    """The header is row 1."""
    document = read("faq.csv", CSV).documents[0]
    assert document.place(document.text.index("Always")) == Place("row", 3)


def test_rows_with_labels_of_their_own_are_a_document_of_their_own() -> None:
    """What is for staff never stands beside what is for everyone."""
    table = 'question,answer,labels\nOpen?,"Yes, it is.",\nSecret?,"Yes, too.","staff, legal"\n'
    found = read("faq.csv", table).documents
    assert [(d.doc_id, d.labels) for d in found] == [
        ("faq.csv", ("public",)),
        ("faq.csv#staff+legal", ("staff", "legal")),
    ]


def test_ids_of_labelled_rows_have_room_in_a_message() -> None:
    """However long the file's name and its labels are."""
    table = f"question,answer,labels\nOpen?,Yes.,{'x' * 150}\nOpen?,Yes.,{'y' * 150}\n"
    found = read(f"{'n' * 176}.csv", table).documents
    assert len({document.doc_id for document in found}) == 2
    assert all(len(document.doc_id) <= 180 for document in found)


def test_a_row_that_is_no_answer_is_named_and_the_rest_goes_in() -> None:
    """By its number."""
    lines = [
        json.dumps(PAIRS[0]),
        "{",
        "[]",
        '{"question": "Why?"}',
        '{"question": "A?", "answer": "\\ud800"}',
    ]
    reading = read("faq.jsonl", "\n".join(lines))
    assert len(reading.documents) == 1
    assert [p.source for p in reading.problems] == [f"faq.jsonl:{n}" for n in (2, 3, 4, 5)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "{"),
        ("a.json", "3"),
        ("a.csv", "x,y\n1,2\n"),
        ("a.json", "[" * 100_000),
        ("a.json", "1" * 5_000),
        ("a.jsonl", "[" * 100_000),
        ("a.jsonl", "1" * 5_000),
    ],
)
def test_a_file_without_answers_is_named(name: str, text: str) -> None:
    """Once, not once a row."""
    reading = read(name, text)
    assert not reading.documents
    assert len(reading.problems) == 1
