"""Identities that are derived, never drawn: envelope ids, lanes, digests."""

import hashlib
import re
import uuid
from collections.abc import Sequence

_NAMESPACE = uuid.UUID("6f6e8d1c-2f0b-5f5e-9a53-2d7f0b1f6a10").bytes
_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}


def envelope_id(cause_id: str, stage: str) -> str:
    """The id of what `stage` emits for `cause_id`: the same again on every redelivery (uuid5)."""
    name = f"{cause_id}/{stage}".encode()
    text = hashlib.sha1(_NAMESPACE + name, usedforsecurity=False).hexdigest()
    # The layout of RFC 9562, version 5, without the detour by uuid.UUID (twice as fast).
    variant = _VARIANT[text[16]]
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def span_id(of_envelope: str) -> str:
    """The W3C span id (16 hex digits) of an envelope, from its id."""
    return of_envelope.replace("-", "")[:16]


def trace_id(query_id: str) -> str:
    """The W3C trace id (32 hex digits) of a query that nobody traces yet: who samples by it needs all bits drawn."""
    return hashlib.blake2b(
        query_id.encode(), digest_size=16, person=b"groundwire trace"
    ).hexdigest()


def lane_of(key: str, lanes: int) -> int:
    """The lane of a key: its SHA-256 as an integer modulo the number of lanes."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8]) % lanes


def lane_of_query(query_id: str) -> int:
    """The lane written in a query_id (`<lane>-<rest>`); ValueError if there is none."""
    lane, dash, rest = query_id.partition("-")
    if not dash or not rest or not lane.isascii() or not lane.isdigit():
        raise ValueError(f"{query_id!r} is not a query id: expected <lane>-<uuid>")
    return int(lane)


def lanes_of_query(query_id: str, lanes: int) -> Sequence[int]:
    """Where a query may be: in the lane that its id names, or in any, if a client chose the id of a bare entry."""
    named = _MINTED.fullmatch(query_id)
    if named is None:
        return range(lanes)
    lane = int(named[1])
    return (lane,) if lane < lanes else range(lanes)


_HEX = "[0-9a-f]"
_MINTED = re.compile(
    rf"([0-9]{{1,4}})-(?:{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}|(?:[a-z_]+-)?[0-9]+-[0-9]+)"
)
"""The ids that are made here: of submit, of a bare entry, of a stranger's on a stage's stream."""


def digest(data: bytes) -> str:
    """A short content digest: the first 16 hex digits of SHA-256."""
    return hashlib.sha256(data).hexdigest()[:16]
