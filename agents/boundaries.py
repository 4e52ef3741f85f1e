"""Where a quote may begin and end: where a sentence or a line does. Pure; one rule for critic and synthesizer."""

import re

_ENDS = frozenset(".!?…。！？")
_CLOSERS = "\"'”’)]*_»"
_APART = re.compile(r"[.!?…。！？](?:[ \t]+(?:''|[”’)\]»]))+\Z")
"""What closes after a blank, as in `"so it is . ''"`: marks that never open, since one that does is the next one's."""
_REACH = 40
_GOES_ON = frozenset(",;:.!?…)]”’»%-–—")


def begins_sentence(text: str, start: int) -> bool:
    """Whether a sentence or a line begins at `start`: a quote that starts elsewhere is cut."""
    before = text[:start].rstrip(" \t")
    if not before or before[-1] == "\n":
        return True
    return len(before) < start and _closes(text, len(before), start)


def ends_sentence(text: str, end: int) -> bool:
    """Whether a sentence or a line ends at `end`."""
    if end == len(text) or text[end] == "\n":
        return True
    return text[end].isspace() and _closes(text, end, end)


def _closes(text: str, end: int, start: int) -> bool:
    """Whether a sentence is closed at `end`; by marks that stand apart only if none goes on from `start`."""
    before = text[max(0, end - _REACH) : end]
    if before.rstrip(_CLOSERS)[-1:] in _ENDS:
        return True
    return _APART.search(before) is not None and not _goes_on(text, start)


def _goes_on(text: str, start: int) -> bool:
    after = text[start : start + _REACH].lstrip()
    return after[:1].islower() or after[:1] in _GOES_ON or after.startswith("''")
