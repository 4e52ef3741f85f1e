"""Finding the server of a lane: the one in the URL, the primary that a Sentinel names, the node of its slot.

Blocking, for any thread: the beat's and, through `asyncio.to_thread`, the loop's. What was found stays known until
somebody says that it is wrong; nobody retries here.
"""

import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

import redis
from redis import exceptions as errors
from redis.sentinel import Sentinel

from contracts.address import Node

from .slots import SlotMap, slot_map, slot_of


class Finder(Protocol):
    """Knows or finds where a lane is."""

    def known(self, lane: int) -> Node | None:
        """Where it is, as far as is known; asks nobody."""
        ...

    def find(self, lane: int) -> Node:
        """Where it is; the driver's ConnectionError if nobody can say."""
        ...

    def forget(self, lane: int, node: Node | None = None) -> None:
        """It isn't where it was found; `node`: but there."""
        ...


class SentinelFinder:
    """Asks the Sentinels, at each connection: they know of a failover first."""

    def __init__(
        self, nodes: tuple[Node, ...], service: str, connect: Callable[[Node], redis.Redis]
    ) -> None:
        self._asked = list(nodes)
        self._service = service
        self._connect = connect
        self._turn = threading.Lock()

    def known(self, lane: int) -> Node | None:
        """Nothing: it may change at any time."""
        return None

    def find(self, lane: int) -> Node:
        """The service's primary, of all lanes."""
        with self._turn:
            clients = [self._connect(node) for node in self._asked]
            asking = Sentinel([])  # type: ignore[no-untyped-call]
            asking.sentinels = list(clients)
            try:
                host, port = asking.discover_master(self._service)  # type: ignore[no-untyped-call]
            finally:
                for client in clients:
                    _close(client)
            answered = self._asked.pop(clients.index(asking.sentinels[0]))
            self._asked.insert(0, answered)  # it need not wait for a dead one the next time
        return Node(str(host), int(port))

    def forget(self, lane: int, node: Node | None = None) -> None:
        """Nothing is remembered."""


class ClusterFinder:
    """Keeps the cluster's map of slots, and reads it again from another node when it proves wrong."""

    def __init__(self, nodes: tuple[Node, ...], connect: Callable[[Node], redis.Redis]) -> None:
        self._asked = deque(nodes)
        self._connect = connect
        self._map: SlotMap | None = None
        self._turn = threading.Lock()

    def known(self, lane: int) -> Node | None:
        """By the map in hand."""
        return None if self._map is None else self._map.node_of(slot_of(lane))

    def find(self, lane: int) -> Node:
        """By the map in hand, or a new one."""
        with self._turn:  # whoever waited here finds what the one before has read
            found = self.known(lane)
            if found is None:
                self._map = self._read()
                found = self.known(lane)
        if found is None:
            raise errors.ConnectionError(f"no node serves slot {slot_of(lane)}, lane {lane}'s, now")
        return found

    def forget(self, lane: int, node: Node | None = None) -> None:
        """A MOVED corrects the map; a node that is gone makes it doubtful as a whole."""
        known = self._map
        self._map = None if node is None or known is None else known.with_moved(slot_of(lane), node)

    def _read(self) -> SlotMap:
        """From the first node that answers; another one each time, for one may be cut off from the rest."""
        self._asked.rotate(-1)
        why = "no node is known"
        for node in tuple(self._asked):
            client = self._connect(node)
            try:
                reply = client.execute_command("CLUSTER", "SLOTS")  # type: ignore[no-untyped-call]
                found = slot_map(reply, node)
            except (errors.ConnectionError, errors.TimeoutError, OSError) as error:
                why = f"{node}: {error}"
                continue
            finally:
                _close(client)
            for other in found.nodes:
                if other not in self._asked:
                    self._asked.append(other)
            return found
        raise errors.ConnectionError(f"no node of the cluster answers; the last, {why}")


def _close(client: redis.Redis) -> None:
    client.close()
    client.connection_pool.disconnect()  # a pool that was passed in is ours to close
