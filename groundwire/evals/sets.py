"""The sets by name: readers of published formats, and any folder in BEIR's layout."""

from collections.abc import Callable
from pathlib import Path

from contracts import Misconfigured

from . import beir, clapnq, cranfield, scifact, squad2
from .collection import Collection, Unreadable

READERS: dict[str, Callable[[Path], Collection]] = {
    "clapnq": clapnq.read,
    "cranfield": cranfield.read,
    "scifact": scifact.read,
    "squad2": squad2.read,
}


def read_set(data: Path, name: str) -> Collection:
    """The set in the folder `data`/`name`; Misconfigured says what is wrong with it."""
    folder = data / name
    try:
        if beir.is_beir(folder):
            return beir.read(folder)
        if name in READERS and folder.is_dir():
            return READERS[name](folder)
    except Unreadable as error:
        raise Misconfigured(str(error)) from error
    known = ", ".join(READERS)
    raise Misconfigured(
        f"no set in {folder}: expected one of {known}, or corpus.jsonl and queries.jsonl (BEIR)"
    )
