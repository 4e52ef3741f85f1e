"""What ingestion set aside, in words: nothing that a document holds goes missing without a word."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .context import console_err

if TYPE_CHECKING:
    from groundwire.corpus import Aside

MOST_SHOWN, LONGEST_SHOWN = 20, 100
"""Sentences, and characters of each; `corpus show DOC` has all of a document, `ingest --json` all of all."""


def show_aside(found: "Sequence[Aside]") -> None:
    """Say what was set aside, for a person."""
    for one in found[:MOST_SHOWN]:
        text = aside_line(one)
        shown = text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
        console_err().print(f"set aside {one.doc_id}: {shown}", markup=False, soft_wrap=True)
    if len(found) > MOST_SHOWN:
        console_err().print(f"set aside: {len(found) - MOST_SHOWN} sentences more")


def aside_line(one: "Aside") -> str:
    """Where it stands, and what it says, on one line."""
    where = "title" if one.place is None else f"{one.place.unit} {one.place.number}"
    return f"{where}, seems planted: {' '.join(one.text.split())}"
