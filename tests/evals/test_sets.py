"""The readers, on small files of our own in the published formats, and on the real ones where they are."""

import json
import os
from pathlib import Path

import pytest

from contracts import Misconfigured
from groundwire.evals import spans
from groundwire.evals.sets import READERS, read_set

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / os.environ.get("GROUNDWIRE_DATA", "../shared/data")


def written(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_scifact_reads_printed_lists_and_one_question_for_each_claim(tmp_path: Path) -> None:
    """Sentences without commas between them; a claim has a row for each of its evidences."""
    claims = "id,claim,evidence_doc_id,evidence_label,evidence_sentences,cited_doc_ids\n"
    rows = "2,It rains.,7,SUPPORT,[0],[ 7 99]\n2,It rains.,7,SUPPORT,[1],[ 7 99]\n"
    corpus = (
        "doc_id,title,abstract,structured\n7,Rain,\"['It rains.'\n 'It is wet.']\",False\n"
        '8,Sun,"[\'unfinished",False\n'
    )
    written(
        tmp_path / "scifact",
        {
            "corpus_train.csv": corpus,
            "claims_train.csv": claims + "1,Rain is wet.,7,SUPPORT,[1],[7]\n",
            "claims_validation.csv": claims + rows + "3,Sun.,,,[],[99]\n",
        },
    )
    found = read_set(tmp_path, "scifact")
    assert found.entries[0].text == "It rains. It is wet."
    assert [(one.text, dict(one.relevant)) for one in found.questions] == [("It rains.", {"7": 1})]
    assert [one.text for one in found.tuning] == ["Rain is wet."]
    assert any("99" in one.reason for one in found.skipped)


def test_cranfield_numbers_questions_by_position(tmp_path: Path) -> None:
    """Not by the number in the file; a grade of 0 and a document without text count nothing."""
    written(
        tmp_path / "cranfield",
        {
            "cran.all.1400.xml": "<doc><docno>1</docno><title>a wing .</title>"
            "<text>a wing .\nlifts\nmuch .</text></doc>"
            "<doc><docno>2</docno><title></title><text></text></doc>",
            "cran.qry.xml": "<?xml version='1.0'?>\n<xml><top><num> 5</num>"
            "<title>\nwhich\nwing\n</title></top><top><num> 9</num><title>lift</title></top></xml>",
            "cranqrel.trec.txt": "1 0 1 0\n2 0 1 3\n2 0 2 1\nbroken\n",
        },
    )
    found = read_set(tmp_path, "cranfield")
    assert [(one.title, one.text) for one in found.entries] == [("a wing .", "lifts much .")]
    assert [(one.question_id, one.text) for one in found.questions] == [("2", "lift")]
    assert dict(found.questions[0].relevant) == {"1": 3}
    assert [one.what for one in found.skipped] == [
        "document 2",
        "judgement of line 3",
        "judgement of line 4",
        "question 1",
    ]


def test_clapnq_counts_equal_passages_once(tmp_path: Path) -> None:
    """A passage of an unanswerable question is there to be mistaken for another."""

    def line(number: str, text: str) -> str:
        passages = [{"title": "T", "text": text, "sentences": [text]}]
        return json.dumps({"id": number, "input": f"question {number}", "passages": passages})

    written(
        tmp_path / "clapnq",
        {
            "clapnq_dev_answerable.jsonl": line("1", "One. ") + "\n" + line("2", "Two."),
            "clapnq_dev_unanswerable.jsonl": line("3", "One.") + "\n" + line("4", "Four."),
        },
    )
    found = read_set(tmp_path, "clapnq")
    assert [entry.text for entry in found.entries] == ["One.", "Two.", "Four."]
    assert [dict(one.relevant) for one in found.questions] == [{"0": 1}, {"1": 1}]


def test_squad2_keeps_answerable_questions_by_article(tmp_path: Path) -> None:
    """What can't be answered from its paragraph says nothing of retrieval."""
    asked = [
        {"id": "a", "question": " Who? ", "is_impossible": False},
        {"id": "b", "question": "Why?", "is_impossible": True},
    ]
    article = {"title": "The_Sea", "paragraphs": [{"context": "It is wet.", "qas": asked}]}
    written(tmp_path / "squad2", {"dev-v2.0.json": json.dumps({"data": [article]})})
    found = read_set(tmp_path, "squad2")
    assert [(one.text, one.fold) for one in found.questions] == [("Who?", "The Sea")]
    assert found.skipped[0].what == "1 questions"


def test_a_folder_in_beir_layout_needs_no_code(tmp_path: Path) -> None:
    """Test is reported, train is for tuning; what names nothing is skipped and said."""
    corpus = '{"_id": "d1", "title": "T", "text": "x"}\nnot json\n'
    queries = '{"_id": "q1", "text": "one"}\n{"_id": "q2", "text": "two"}\n'
    written(tmp_path / "faq", {"corpus.jsonl": corpus, "queries.jsonl": queries})
    heading = "query-id\tcorpus-id\tscore\n"
    written(
        tmp_path / "faq" / "qrels",
        {
            "test.tsv": heading + "q1\td1\t2\nq1\td9\t1\nq9\td1\t1\n",
            "train.tsv": heading + "q2\td1\t1\n",
        },
    )
    found = read_set(tmp_path, "faq")
    assert [(one.question_id, dict(one.relevant)) for one in found.questions] == [("q1", {"d1": 2})]
    assert [one.question_id for one in found.tuning] == ["q2"]
    assert len(found.skipped) == 3


def test_gold_spans_that_are_not_their_text_are_skipped(tmp_path: Path) -> None:
    """A reader never guesses where an offset should have been."""
    gold = [
        {"content": "bright", "start_index": 4, "end_index": 10},
        {"content": "dark", "start_index": 0, "end_index": 4},
    ]
    references = json.dumps(gold).replace('"', '""')
    row = f'question,references,corpus_id\nHow?,"{references}",day\n'
    folder = written(tmp_path / "chunking", {"questions_df.csv": row})
    written(folder / "corpora", {"day.md": "Sun bright."})
    found = spans.read(folder)
    assert [(span.start, span.end) for span in found.questions[0].gold] == [(4, 10)]
    assert found.skipped[0].reason == "day[0:4] is not its text"


@pytest.mark.parametrize("name", ["nothing", "scifact"])
def test_a_set_that_is_not_there_is_said(tmp_path: Path, name: str) -> None:
    """With the names that are known, or the file that is missing."""
    if name == "scifact":
        (tmp_path / name).mkdir()
    with pytest.raises(Misconfigured, match=name):
        read_set(tmp_path, name)


@pytest.mark.parametrize(
    ("name", "entries", "questions"),
    [("clapnq", 596, 300), ("cranfield", 1398, 225), ("scifact", 5183, 300), ("squad2", 646, 2910)],
)
def test_the_published_sets_are_read_whole(name: str, entries: int, questions: int) -> None:
    """Every question has an entry that answers it."""
    if not (DATA / name).is_dir():
        pytest.skip(f"the set is not at {DATA / name}: set GROUNDWIRE_DATA")
    found = READERS[name](DATA / name)
    assert (len(found.entries), len(found.questions)) == (entries, questions)
    known = {entry.entry_id for entry in found.entries}
    assert all(one.relevant and known >= set(one.relevant) for one in found.questions)


def test_the_published_spans_are_read_whole() -> None:
    """472 questions, no offset is wrong here."""
    if not (DATA / "chunking").is_dir():
        pytest.skip(f"the set is not at {DATA / 'chunking'}: set GROUNDWIRE_DATA")
    found = spans.read(DATA / "chunking")
    assert (len(found.documents), len(found.questions), found.skipped) == (5, 472, ())
