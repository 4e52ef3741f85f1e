"""Neighbouring passages read as one. Pure: reading is passed in.

Nothing is stored of it: a merged passage is named by its first and its last, and by that name its document finds it.
"""

from collections.abc import Callable

from .model import Document, Passage, joined

Read = Callable[[int], tuple[Document, Passage] | None]
"""A passage beside its document by its ordinal; None where there is none."""


def widened(read: Read, ordinal: int, most_chars: int) -> tuple[Document, Passage] | None:
    """A passage with its neighbours of the same section, what follows first, up to so many characters in all."""
    found = read(ordinal)
    if found is None:
        return None
    document, passage = found
    first = last = passage
    after, before = ordinal + 1, ordinal - 1
    grows = True
    while grows:
        grows = False
        following = _neighbour(read, document, after, first, most_chars, follows=True)
        if following is not None:
            last, after, grows = following, after + 1, True
        preceding = _neighbour(read, document, before, last, most_chars, follows=False)
        if preceding is not None:
            first, before, grows = preceding, before - 1, True
    return document, joined(first, last) or passage


def _neighbour(
    read: Read, document: Document, ordinal: int, end: Passage, most_chars: int, *, follows: bool
) -> Passage | None:
    """The passage there, if what reaches from it to the other end is one that fits."""
    found = read(ordinal)
    if found is None or found[0].doc_id != document.doc_id:
        return None
    whole = joined(end, found[1]) if follows else joined(found[1], end)
    fits = whole is not None and whole.char_end - whole.char_start <= most_chars
    return found[1] if fits else None
