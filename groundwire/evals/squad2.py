"""SQuAD 2.0: questions on Wikipedia paragraphs, all paragraphs pooled; the answerable questions."""

import json
from pathlib import Path
from typing import Any

from .collection import Collection, Entry, Question, Skipped, Unreadable


def read(folder: Path) -> Collection:
    """The set of the file `dev-v2.0.json`; a question's fold is its article."""
    path = folder / "dev-v2.0.json"
    try:
        articles: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["data"]
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise Unreadable(f"{path}: is not SQuAD's format: {error!r}") from error
    entries: dict[str, Entry] = {}
    questions: list[Question] = []
    unanswerable = 0
    for article in articles:
        title = article["title"].replace("_", " ")
        for paragraph in article["paragraphs"]:
            text = paragraph["context"].strip()
            entry = entries.setdefault(text, Entry(str(len(entries)), title, text))
            for asked in paragraph["qas"]:
                if asked["is_impossible"]:
                    unanswerable += 1
                    continue
                relevant = {entry.entry_id: 1}
                questions.append(Question(asked["id"], asked["question"].strip(), relevant, title))
    skipped = [Skipped(f"{unanswerable} questions", "are not answerable")] if unanswerable else []
    return Collection("squad2", tuple(entries.values()), tuple(questions), skipped=tuple(skipped))
