"""Several servers of the one program, for tests, chaos and benchmarks: a cluster, a primary watched by Sentinels.

No command-line client is needed: what a cluster is told, it is told here.
"""

import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from contracts.errors import Unreachable

from .folder import Fsync, Part, free_port, keeping
from .temporary import TemporaryServer

__all__ = ["TemporaryCluster", "TemporarySentinels", "temporary_cluster", "temporary_sentinels"]

SERVICE = "mymaster"
SLOTS = 16_384
READY_S = 30.0
_POLL_S = 0.02
_REPLICATED = ("repl-diskless-sync-delay 0", "repl-ping-replica-period 1")


T = TypeVar("T")


class _Several:
    """Servers that are started and stopped together."""

    def __init__(self) -> None:
        self.password = secrets.token_urlsafe(24)
        self._homes: list[Path] = []
        self._started: list[TemporaryServer] = []

    def _start(self, parts: Sequence[Part], fsync: Fsync) -> list[TemporaryServer]:
        homes = [Path(tempfile.mkdtemp(prefix="gw-")) for _ in parts]
        self._homes += homes

        def start(home: Path, part: Part) -> TemporaryServer:
            server = TemporaryServer(home, fsync, part)
            self._started.append(server)
            return server

        with ThreadPoolExecutor(len(parts)) as pool:
            return list(pool.map(start, homes, parts))

    def _url(self, kind: str, ports: Sequence[int], tail: str = "") -> str:
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports)
        return f"redis+{kind}://:{self.password}@{hosts}{tail}"

    def flush(self) -> None:
        """Delete everything in all of them."""
        for node in self._started:
            if "role:master" in node.ask("INFO", "replication"):
                node.flush()

    def _until(self, ask: Callable[[], T | None], what: str) -> T:
        """The first true answer; Unreachable, with what was waited for, when there is none in time."""
        deadline = time.monotonic() + READY_S
        while not (found := ask()):
            if time.monotonic() > deadline:
                raise Unreachable(f"not within {READY_S:g} s: {what}")
            time.sleep(_POLL_S)
        return found

    def stop(self) -> None:
        """End them all, and leave nothing."""
        for server in self._started:
            if server.is_up:
                server.thaw()
        with ThreadPoolExecutor(len(self._started) or 1) as pool:
            list(pool.map(TemporaryServer.stop, self._started))
        for home in self._homes:
            shutil.rmtree(home, ignore_errors=True)


class TemporaryCluster(_Several):
    """A cluster of primaries with replicas, ready when constructed; `timeout_ms` until a silent node is failed."""

    def __init__(
        self,
        primaries: int = 3,
        replicas: int = 1,
        *,
        timeout_ms: int = 1_500,
        fsync: Fsync = "everysec",
    ) -> None:
        super().__init__()
        self.replicas = replicas
        size = primaries * (1 + replicas)
        self._ports = [free_port() for _ in range(2 * size)]
        parts = [
            Part(self.password, port, self._lines(bus_port, timeout_ms, fsync))
            for port, bus_port in zip(self._ports[:size], self._ports[size:], strict=True)
        ]
        try:
            self.nodes = self._start(parts, fsync)
            self._ids = [node.ask("CLUSTER", "MYID") for node in self.nodes]
            self._join(primaries)
        except BaseException:
            self.stop()
            raise

    @property
    def url(self) -> str:
        """Where to connect, password included."""
        return self._url("cluster", self._ports[: len(self.nodes)])

    def primary_of(self, slot: int) -> TemporaryServer:
        """The node that serves a slot, as the ones that are up see it; waits while it is changing."""
        return self._until(lambda: self._serving(slot), f"one node serves slot {slot}")

    def replica_of(self, primary: TemporaryServer) -> TemporaryServer:
        """A replica of it that is up and in step."""
        own_id = self._id_of(primary)

        def find() -> TemporaryServer | None:
            for node in self._up:
                rows = node.ask("CLUSTER", "NODES").splitlines()
                mine = next((row.split() for row in rows if "myself" in row), None)
                if (
                    mine
                    and mine[3] == own_id
                    and "master_link_status:up" in node.ask("INFO", "replication")
                ):
                    return node
            return None

        return self._until(find, "the primary has a replica")

    def await_whole(self) -> None:
        """Wait until every slot is served, and every primary has its replica in step."""

        def is_whole() -> bool:
            if len(self._up) < len(self.nodes):
                return False
            for node in self.nodes:
                replication = node.ask("INFO", "replication")
                linked = (
                    f"connected_slaves:{self.replicas}" in replication
                    or "master_link_status:up" in replication
                )
                if not linked or "cluster_state:ok" not in node.ask("CLUSTER", "INFO"):
                    return False
            return True

        self._until(is_whole, "the cluster is whole")

    def fail_over(self, slot: int) -> None:
        """Have a replica take over from a living primary, in agreement with it; returns when it has."""
        primary = self.primary_of(slot)
        replica = self.replica_of(primary)
        self._until(
            lambda: replica.ask("CLUSTER", "FAILOVER") == "+OK", "the replica may take over"
        )
        self._until(lambda: self._serving(slot) is replica, "the replica has taken over")

    def migrate(
        self, slot: int, target: TemporaryServer, *, pause: Callable[[], None] = lambda: None
    ) -> None:
        """Move a slot key by key, as `valkey-cli --cluster reshard` does; `pause` is called while it is split."""
        source = self.primary_of(slot)
        if source is target:
            return
        to_id, port = self._id_of(target), str(self._port_of(target))
        number = str(slot)
        _said_ok(target.ask("CLUSTER", "SETSLOT", number, "IMPORTING", self._id_of(source)))
        _said_ok(source.ask("CLUSTER", "SETSLOT", number, "MIGRATING", to_id))
        while keys := source.ask_all("CLUSTER", "GETKEYSINSLOT", number, "10"):
            move = ("MIGRATE", "127.0.0.1", port, "", "0", "5000", "AUTH", self.password, "KEYS")
            _said_ok(next(iter(source.ask_all(*move, *keys, timeout_s=10.0)), ""))
            pause()
        others = [node for node in self.primaries if node not in (source, target)]
        for node in (target, source, *others):
            node.ask("CLUSTER", "SETSLOT", number, "NODE", to_id)
        self._until(lambda: self._serving(slot) is target, "the slot is served by its new node")

    def hand_over(self, slot: int, target: TemporaryServer) -> None:
        """Move a slot in one step, as Valkey 9 can."""
        source = self.primary_of(slot)
        if source is not target:
            spelt = ("SLOTSRANGE", str(slot), str(slot), "NODE", self._id_of(target))
            _said_ok(source.ask("CLUSTER", "MIGRATESLOTS", *spelt))
            self._until(lambda: self._serving(slot) is target, "the slot is served by its new node")

    def _id_of(self, node: TemporaryServer) -> str:
        return self._ids[self.nodes.index(node)]

    def _port_of(self, node: TemporaryServer) -> int:
        return self._ports[self.nodes.index(node)]

    @property
    def _up(self) -> list[TemporaryServer]:
        return [node for node in self.nodes if node.is_up]

    @property
    def primaries(self) -> list[TemporaryServer]:
        """The nodes that are up and say that they are primaries."""
        return [node for node in self._up if "role:master" in node.ask("INFO", "replication")]

    def _serving(self, slot: int) -> TemporaryServer | None:
        """The node that says that the slot is its own, if there is one."""
        for node in self._up:
            rows = [row.split() for row in node.ask("CLUSTER", "NODES").splitlines()]
            for row in rows:
                if "myself" in row[2] and "master" in row[2] and _holds(row[8:], slot):
                    return node
        return None

    def _lines(self, bus_port: int, timeout_ms: int, fsync: Fsync) -> tuple[str, ...]:
        return (
            *keeping(fsync),
            *_REPLICATED,
            f"masterauth {self.password}",
            "cluster-enabled yes",
            f"cluster-port {bus_port}",
            "cluster-config-file nodes.conf",
            f"cluster-node-timeout {timeout_ms}",
            "cluster-require-full-coverage no",  # a lane that is away is no reason to stop the others
            "cluster-replica-validity-factor 0",
        )

    def _join(self, primaries: int) -> None:
        share = SLOTS // primaries
        for number, node in enumerate(self.nodes):
            _said_ok(node.ask("CLUSTER", "SET-CONFIG-EPOCH", str(number + 1)))
            if number < primaries:
                last = SLOTS - 1 if number == primaries - 1 else (number + 1) * share - 1
                _said_ok(node.ask("CLUSTER", "ADDSLOTSRANGE", str(number * share), str(last)))
            if number:
                first = (str(self._ports[0]), str(self._ports[len(self.nodes)]))
                _said_ok(node.ask("CLUSTER", "MEET", "127.0.0.1", *first))
        size = str(len(self.nodes))
        for node in self.nodes:
            self._until(
                lambda node=node: f"cluster_known_nodes:{size}\r" in node.ask("CLUSTER", "INFO"),  # type: ignore[misc]
                "all nodes know each other",
            )
        for number, node in enumerate(self.nodes[primaries:]):
            primary_id = self._ids[number % primaries]
            self._until(
                lambda node=node, own=primary_id: node.ask("CLUSTER", "REPLICATE", own) == "+OK",  # type: ignore[misc]
                "a replica knows its primary",
            )
        self.await_whole()


class TemporarySentinels(_Several):
    """A primary with replicas, watched by three Sentinels; `timeout_ms` until a silent primary is down."""

    def __init__(
        self, replicas: int = 2, *, timeout_ms: int = 1_000, fsync: Fsync = "everysec"
    ) -> None:
        super().__init__()
        self._ports = [free_port() for _ in range(1 + replicas)]
        self._watching = [free_port() for _ in range(3)]
        first, *others = self._ports
        common = (*keeping(fsync), *_REPLICATED, f"masterauth {self.password}")
        follows = f"replicaof 127.0.0.1 {first}"
        parts = [Part(self.password, first, common)]
        parts += [Part(self.password, port, (*common, follows)) for port in others]
        watch = (
            f"sentinel monitor {SERVICE} 127.0.0.1 {first} 2",
            f"sentinel auth-pass {SERVICE} {self.password}",
            f"sentinel down-after-milliseconds {SERVICE} {timeout_ms}",
            f"sentinel failover-timeout {SERVICE} {4 * timeout_ms}",
        )
        try:
            self.nodes = self._start(parts, fsync)
            self._until(
                lambda: f"connected_slaves:{replicas}" in self.nodes[0].ask("INFO", "replication"),
                "the replicas follow",
            )
            self.sentinels = self._start(
                [Part(self.password, port, watch, "redis-sentinel") for port in self._watching],
                fsync,
            )
            self.await_whole()
        except BaseException:
            self.stop()
            raise

    @property
    def url(self) -> str:
        """Where to connect, password included."""
        tail = f"/{SERVICE}?sentinel_password={self.password}"
        return self._url("sentinel", self._watching, tail)

    @property
    def primary(self) -> TemporaryServer:
        """The node that the Sentinels name."""
        named = self.sentinels[0].ask_all("SENTINEL", "GET-PRIMARY-ADDR-BY-NAME", SERVICE)
        return self.nodes[self._ports.index(int(named[1]))]

    def await_whole(self) -> None:
        """Wait until every Sentinel knows the others and every replica."""

        def is_whole() -> bool:
            for sentinel in self.sentinels:
                words = sentinel.ask_all("SENTINEL", "PRIMARY", SERVICE)
                known = dict(zip(words[::2], words[1::2], strict=False))
                others, replicas = len(self.sentinels) - 1, len(self.nodes) - 1
                if (known.get("num-other-sentinels"), known.get("num-slaves")) != (
                    str(others),
                    str(replicas),
                ):
                    return False
            return True

        self._until(is_whole, "the Sentinels know each other")

    def fail_over(self) -> None:
        """Have a replica take over from a living primary, in agreement with it (Valkey 9); returns when it has."""
        before = self.primary
        order = ("SENTINEL", "FAILOVER", SERVICE, "COORDINATED")
        self._until(lambda: self.sentinels[0].ask(*order) == "+OK", "a replica may take over")
        self.await_other_than(before)

    def await_other_than(self, before: TemporaryServer) -> TemporaryServer:
        """Wait until the Sentinels name another primary."""
        return self._until(
            lambda: self.primary if self.primary is not before else None, "another is primary"
        )


def _holds(ranges: Sequence[str], slot: int) -> bool:
    """Whether a slot is in the ranges of a line of CLUSTER NODES; what is on its way is in brackets."""
    for text in ranges:
        first, _, last = text.partition("-")
        if first.isdigit() and int(first) <= slot <= int(last or first):
            return True
    return False


def _said_ok(reply: str) -> None:
    if reply not in ("+OK", "+NOKEY"):
        raise Unreachable(f"a node refused: {reply}")


@contextmanager
def temporary_cluster(
    *, timeout_ms: int = 1_500, fsync: Fsync = "everysec"
) -> Iterator[TemporaryCluster]:
    """Three primaries with a replica each; gone afterwards."""
    cluster = TemporaryCluster(timeout_ms=timeout_ms, fsync=fsync)
    try:
        yield cluster
    finally:
        cluster.stop()


@contextmanager
def temporary_sentinels(
    *, timeout_ms: int = 1_000, fsync: Fsync = "everysec"
) -> Iterator[TemporarySentinels]:
    """A primary, two replicas, three Sentinels; gone afterwards."""
    several = TemporarySentinels(timeout_ms=timeout_ms, fsync=fsync)
    try:
        yield several
    finally:
        several.stop()
