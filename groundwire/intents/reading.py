"""Reading an intents file; errors name the file, the key and the line."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from contracts import Misconfigured

from .lines import line_of
from .model import FILE_NAME, Intents, Place, conflicts


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
        found = Intents.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise Misconfigured(f"{where}: is not TOML: {error}") from error
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = tuple(part for part in fault["loc"] if part != "[key]")
        raise _fault(text, where, place, fault["msg"]) from error
    for place, message in conflicts(found):
        raise _fault(text, where, place, message)
    return found


def _fault(text: str, where: str, place: Place, message: str) -> Misconfigured:
    line = line_of(text, place)
    at = f"{where}, line {line}" if line else where
    key = ".".join(str(part) for part in place) or "the file"
    return Misconfigured(f"{at}: {key}: {message}")


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
