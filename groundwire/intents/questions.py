"""What a classifier is taught with: the examples of a file, what tells of its labels, and foreign questions."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from .model import Intents

TELLING = 0.5
"""The part of the heaviest keyword's weight from which a keyword says enough to be an example by itself."""


@dataclass(frozen=True)
class Lesson:
    """Texts with their labels. `keywords`, names and descriptions among them, are learned from but never held out."""

    names: tuple[str, ...]
    examples: tuple[tuple[str, str], ...]
    keywords: tuple[tuple[str, str], ...]
    keep: float

    @classmethod
    def of(cls, intents: Intents, *, keywords: bool) -> "Lesson":
        """The lesson of a file, with what tells of its labels beside the examples or without."""
        return cls(
            names=tuple(intent.label for intent in intents.intents),
            examples=tuple(
                (example, intent.label) for intent in intents.intents for example in intent.examples
            ),
            keywords=tuple(_telling(intents)) if keywords else (),
            keep=intents.keep,
        )


def _telling(intents: Intents) -> Iterator[tuple[str, str]]:
    for intent in intents.intents:
        yield intent.label.replace("_", " "), intent.label
        if any(map(str.isalnum, intent.description)):
            yield intent.description, intent.label
        heaviest = max(intent.keywords.values(), default=0.0)
        for word, weight in intent.keywords.items():
            if weight >= TELLING * heaviest and any(map(str.isalnum, word)):
                yield word, intent.label


def foreign() -> tuple[str, ...]:
    """Questions that hardly any collection of documents is asked."""
    text = files(__package__).joinpath("foreign.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line)
