"""The published course's chunks: windows of a fixed size that overlap, numbered in order."""

from collections.abc import Iterator

from ..model import Document, Passage


def fixed(document: Document, size: int, overlap: int) -> Iterator[Passage]:
    """Each window begins `size - overlap` after the one before; those that are blank are left out."""
    text, start, number = document.text, 0, 0
    while start < len(text):
        end = min(start + size, len(text))
        if not text[start:end].isspace():
            yield Passage(f"{document.doc_id}_p{number}", start, end)
            number += 1
        if end == len(text):
            return
        start = end - overlap
