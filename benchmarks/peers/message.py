"""What travels through a peer's chain: a small plain message, no envelope around it, and what a hop does to it."""

from pydantic import BaseModel

TEXT = "What is the refund policy for annual plans?"
HOPS = 5
RESULTS = "results"


class Passage(BaseModel):
    """What the second hop adds three of."""

    id: str
    text: str


class Message(BaseModel):
    """About 130 bytes at first, 640 from the second hop on."""

    query_id: str
    text: str = TEXT
    session_id: str = "s-0001"
    hops: int = 0
    passages: list[Passage] = []


def step(message: Message, hop: int) -> Message:
    """The work of a hop: next to nothing."""
    message.hops += 1
    if hop == 1:
        message.passages = [Passage(id=f"p{rank}", text="x" * 150) for rank in range(3)]
    return message
