"""Blobs: a message too large for its stream lies under a key of its own, and its entry says where.

Its life is tied to the entry's: stored in the step that adds the entry, deleted in the step that settles it for good;
a retry or a park hands it on. Its time to live is only for what an operator deletes by hand: it ends as long after the
query's deadline as a dead letter's bytes are kept, and no message is worth anything later, so it is never renewed.
"""

from dataclasses import dataclass

from redis import exceptions as errors

from contracts import Unreachable

from .config import BusConfig
from .delivery import Delivery
from .keys import Keys
from .pause import Pause
from .wire import Wire


@dataclass(frozen=True, slots=True)
class Blob:
    """A message under a key of its own, and the reference that its entry holds instead of it."""

    key: str
    ttl_ms: int
    body: bytes
    reference: bytes


def blob_of(
    body: bytes, name: str, subject: str, *, keys: Keys, left_ms: int, config: BusConfig
) -> Blob | None:
    """The blob that a message has to travel as; None where it fits its entry.

    `left_ms`: until its query's deadline. The name says what the message came of, and nothing else has that name.
    """
    if len(body) <= config.blob_bytes:
        return None
    ttl_ms = max(0, left_ms) + int(config.raw_ttl_s * 1000)
    return Blob(keys.blob(name), ttl_ms, body, reference(name, subject))


def reference(name: str, subject: str) -> bytes:
    """What the scripts make the fields `blob` and `subject` of (put.lua). No JSON begins like this."""
    return f"blob:{name} {subject}".encode()


async def fetch(wire: Wire, keys: Keys, delivery: Delivery) -> None:
    """Get the message of an entry that only refers to it; what is gone leaves the delivery without one.

    Asked for when the delivery starts, not when it is read: so a worker holds no more large messages than it
    handles, and all ways to an entry (read, claimed, reconciled, parked) are one.
    """
    pause = Pause()
    while delivery.raw is None and delivery.blob is not None:
        try:
            delivery.fetched = await wire.call("GET", keys.blob(delivery.blob))
            return
        except Unreachable:
            await pause.wait()
        except errors.ResponseError:  # a key of another type: a stranger's, and no message
            return
