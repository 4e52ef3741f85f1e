"""What terminal and page say in the same words about a passage of a search."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contracts import RetrievedPassage
    from groundwire.wiring.searching import Explained

TOLD = {
    "keyword": "its share of the best BM25 score",
    "vector": "how near its meaning is to the question's",
    "feedback": "how near it is to the two best by fusion",
    "pairs": "words of the question standing close together",
    "numbers": "the question's numbers and codes",
    "model": "the cross-encoder's score",
}
"""What each feature measures."""


def place_of(passage: "RetrievedPassage") -> str:
    """Title and headings, each once."""
    return " › ".join(
        dict.fromkeys(name for name in (passage.title, *passage.heading_path) if name)
    )


def moved_by(one: "Explained") -> str | None:
    """Who moved, from where to where, and by which feature; None for who stayed."""
    if one.moved is None:
        return None
    was, now = one.passage.hybrid_rank, one.passage.final_rank
    way = "up" if now < was else "down"
    moved = f"moved {way} from {was} to {now}"
    if one.moved.by is None:
        return f"{moved}: others were left out"
    than = "those it passed" if now < was else "those that passed it"
    return f"{moved} by {one.moved.by}: {one.moved.points:+.3f} against {than}"
