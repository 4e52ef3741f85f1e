"""Questions with the spans of published passages that answer them: CLAP NQ, SQuAD 2.0, and those without an answer."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts import Misconfigured

from .collection import Entry, Skipped, Unreadable

Span = tuple[int, int]


@dataclass(frozen=True)
class Answerable:
    """A question about one entry. `gold`: spans of it, of which each (`squad2`: any) answers; none if nothing does.

    `fold`: what it may not learn with.
    """

    question_id: str
    text: str
    entry_id: str
    gold: tuple[Span, ...]
    fold: str

    @property
    def is_answerable(self) -> bool:
        """Whether its entry answers it."""
        return bool(self.gold)


@dataclass(frozen=True)
class AnswerSet:
    """All passages pooled. `sentences`: those that people chose from, by entry; empty where they chose spans."""

    name: str
    entries: tuple[Entry, ...]
    questions: tuple[Answerable, ...]
    sentences: dict[str, tuple[Span, ...]]
    skipped: tuple[Skipped, ...] = ()


def read(data: Path, name: str) -> AnswerSet:
    """The set in the folder `data`/`name`; Misconfigured says what is wrong with it."""
    if name not in READERS:
        raise Misconfigured(f"no set {name!r}; there are: {', '.join(READERS)}")
    try:
        return READERS[name](data / name)
    except Unreadable as error:
        raise Misconfigured(str(error)) from error
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise Misconfigured(f"{data / name}: is not {name}'s format: {error!r}") from error


def _clapnq(folder: Path) -> AnswerSet:
    entries: dict[str, Entry] = {}
    sentences: dict[str, tuple[Span, ...]] = {}
    questions: list[Answerable] = []
    skipped: list[Skipped] = []
    for kind in ("answerable", "unanswerable"):
        for line in _lines(folder / f"clapnq_dev_{kind}.jsonl"):
            passage = line["passages"][0]
            text = passage["text"].strip()
            entry = entries.setdefault(text, Entry(str(len(entries)), passage["title"], text))
            spans = sentences[entry.entry_id] = _placed(text, passage["sentences"])
            chosen = {
                sentence.strip()
                for output in line["output"]
                for sentence in output.get("selected_sentences", [])
            }
            gold = tuple(span for span in spans if text[slice(*span)] in chosen)
            if kind == "answerable" and not gold:
                skipped.append(Skipped(f"question {line['id']}", "no chosen sentence is in it"))
                continue
            questions.append(
                Answerable(line["id"], line["input"], entry.entry_id, gold, line["id"])
            )
    return AnswerSet("clapnq", tuple(entries.values()), tuple(questions), sentences, tuple(skipped))


def _placed(text: str, sentences: list[str]) -> tuple[Span, ...]:
    spans: list[Span] = []
    at = 0
    for sentence in map(str.strip, sentences):
        start = text.find(sentence, at)
        if start >= 0 and sentence:
            at = start + len(sentence)
            spans.append((start, at))
    return tuple(spans)


def _squad2(folder: Path) -> AnswerSet:
    entries: dict[str, Entry] = {}
    questions: list[Answerable] = []
    skipped: list[Skipped] = []
    stored = json.loads((folder / "dev-v2.0.json").read_text(encoding="utf-8"))
    for article in stored["data"]:
        title = article["title"].replace("_", " ")
        for paragraph in article["paragraphs"]:
            context = paragraph["context"]
            text, cut = context.strip(), len(context) - len(context.lstrip())
            entry = entries.setdefault(text, Entry(str(len(entries)), title, text))
            for asked in paragraph["qas"]:
                gold = tuple(sorted(_spans(asked, cut)))
                if any(text[slice(*span)] == "" for span in gold):
                    skipped.append(Skipped(f"question {asked['id']}", "its answer is elsewhere"))
                    continue
                questions.append(
                    Answerable(asked["id"], asked["question"].strip(), entry.entry_id, gold, title)
                )
    return AnswerSet("squad2", tuple(entries.values()), tuple(questions), {}, tuple(skipped))


def _spans(asked: dict[str, Any], cut: int) -> set[Span]:
    if asked["is_impossible"]:
        return set()
    return {
        (answer["answer_start"] - cut, answer["answer_start"] - cut + len(answer["text"]))
        for answer in asked["answers"]
    }


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


READERS: dict[str, Callable[[Path], AnswerSet]] = {"clapnq": _clapnq, "squad2": _squad2}
