"""The text of an answer from its parts: written by `synthesize` and checked by `critic`."""

from collections.abc import Sequence

from contracts import Caveat, Segment

from .wording import Wording


def compose(segments: Sequence[Segment], caveats: Sequence[Caveat], wording: Wording) -> str:
    """The quotes, then the caveats, a blank line between them; the fallback without quotes."""
    quotes = [segment.text for segment in segments] or [wording.fallback]
    return "\n\n".join([*quotes, *(wording.of_caveat(caveat) for caveat in caveats)])
