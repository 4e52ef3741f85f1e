"""The slots of a cluster: which one a lane's keys are in, and which node serves it. Values only."""

from binascii import crc_hqx
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from contracts.address import Node

SLOTS = 16_384


@cache
def slot_of(lane: int) -> int:
    """The slot of every key of a lane: CRC-16 (XMODEM) of its hash tag, as the cluster specification has it."""
    return crc_hqx(str(lane).encode(), 0) % SLOTS


@dataclass(frozen=True)
class SlotMap:
    """Who serves what: ranges of slots with their primaries, and single slots that have moved since."""

    ranges: tuple[tuple[int, int, Node], ...]
    moved: tuple[tuple[int, Node], ...] = field(default=())

    def node_of(self, slot: int) -> Node | None:
        """The primary of a slot; None while no node serves it."""
        for number, node in reversed(self.moved):
            if number == slot:
                return node
        for first, last, node in self.ranges:
            if first <= slot <= last:
                return node
        return None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every primary, once."""
        return tuple(dict.fromkeys(node for _, _, node in self.ranges))

    def with_moved(self, slot: int, node: Node) -> "SlotMap":
        """The map after a MOVED."""
        return replace(
            self, moved=(*(pair for pair in self.moved if pair[0] != slot), (slot, node))
        )


def slot_map(reply: Sequence[Any], asked: Node) -> SlotMap:
    """The map in a reply to CLUSTER SLOTS; a node that doesn't know its own host is where it was asked."""
    ranges = []
    for first, last, primary, *_ in reply:
        host = primary[0].decode() if isinstance(primary[0], bytes) else primary[0]
        ranges.append(
            (first, last, Node(asked.host if host in (None, "", "?") else host, primary[1]))
        )
    return SlotMap(tuple(ranges))
