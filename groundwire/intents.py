"""`intents.toml`: what a corpus is asked about, and the words that its readers are told."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from contracts import Misconfigured

FILE_NAME = "intents.toml"
VALUES = "{values}"
RESERVED = "out_of_scope"

Label = Annotated[str, Field(min_length=1, max_length=200)]
Word = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
Weight = Annotated[float, Field(gt=0.0)]
Message = Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"\S")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class IntentPart(_Part):
    """One label and the weighted keywords that speak for it."""

    label: Label
    description: str = ""
    keywords: Annotated[dict[Word, Weight], Field(min_length=1)]

    @field_validator("label")
    @classmethod
    def _is_free(cls, label: str) -> str:
        if label == RESERVED:
            raise ValueError(f"{RESERVED!r} is what a question without an intent is called")
        return label


class Messages(_Part):
    """The message of each outcome; what is not given keeps the built-in words."""

    out_of_scope: Message | None = None
    rejected: Message | None = None
    fallback: Message | None = None
    failed: Message | None = None
    clarification: Message | None = None
    caveat_entity: Message | None = None

    @field_validator("caveat_entity")
    @classmethod
    def _names_values(cls, message: str | None) -> str | None:
        if message is not None and VALUES not in message:
            raise ValueError(f"has no place for {VALUES}")
        return message


class Intents(_Part):
    """The whole file. Entities keep their listing order: the first listed word decides."""

    version: Literal[1]
    threshold: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    intents: Annotated[tuple[IntentPart, ...], Field(min_length=1)]
    entities: dict[Label, dict[Label, Annotated[tuple[Word, ...], Field(min_length=1)]]] = {}
    messages: Messages = Messages()

    @model_validator(mode="after")
    def _labels_differ(self) -> "Intents":
        labels = [intent.label for intent in self.intents]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            raise ValueError(f"the label {twice!r} occurs twice")
        return self


def load(path: Path) -> Intents:
    """Read an intents file; Misconfigured names the file, the key and, where known, the line."""
    return parse(read_text(path), str(path))


def read_text(path: Path) -> str:
    """The text of an intents file; Misconfigured when it can't be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path}: cannot be read: {error}") from error


def parse(text: str, where: str) -> Intents:
    """Validate the text of an intents file; `where` is what an error calls it."""
    try:
        return Intents.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise Misconfigured(f"{where}: is not TOML: {error}") from error
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = [part for part in fault["loc"] if part != "[key]"]
        line = _line_of(text, place)
        at = f"{where}, line {line}" if line else where
        key = ".".join(str(part) for part in place) or "the file"
        raise Misconfigured(f"{at}: {key}: {fault['msg']}") from error


def beside(path: Path) -> Path | None:
    """The intents file that lies with the documents: in their folder, or next to their file."""
    candidate = (path if path.is_dir() else path.parent) / FILE_NAME
    return candidate if candidate.is_file() else None


def text_beside(paths: Sequence[Path]) -> str | None:
    """The valid text of the one intents file that lies with these documents; None without one."""
    found = list(dict.fromkeys(file for path in paths if (file := beside(path))))
    if not found:
        return None
    if len(found) > 1:
        names = ", ".join(str(file) for file in found)
        raise Misconfigured(f"more than one intents file ({names}); choose one with --intents")
    text = read_text(found[0])
    parse(text, str(found[0]))
    return text


def _line_of(text: str, place: list[int | str]) -> int | None:
    """The line where a key is written, found by walking down its path; None if it isn't there."""
    lines = text.splitlines()
    at, found = 0, None
    for part in place:
        hit = _nth_table(lines, part) if isinstance(part, int) else _first(lines, part, at)
        if hit is None:
            return found
        at, found = hit, hit + 1
    return found


def _first(lines: list[str], key: str, start: int) -> int | None:
    word = re.compile(rf"""(?<![\w-])["']?{re.escape(key)}["']?\s*[=\].]""")
    return next((n for n in range(start, len(lines)) if word.search(lines[n])), None)


def _nth_table(lines: list[str], position: int) -> int | None:
    headers = [n for n, line in enumerate(lines) if line.strip().startswith("[[intents]]")]
    return headers[position] if position < len(headers) else None
