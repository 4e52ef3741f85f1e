"""Five stages and a publisher of one side as processes that can be frozen, so that two sides can take turns."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from contracts import TOPOLOGY

from .child import READY, run_client, run_stages

STAGES = tuple(stage.name for stage in TOPOLOGY.stages)
_START_S = 20.0
_CONTEXT = multiprocessing.get_context("fork")  # the parent has no threads; imports are paid once
_OF_A_PROCESS = 2  # the kind in the number of a clock: CPUCLOCK_SCHED


Child = tuple[BaseProcess, Connection]
"""A process, and our end of a pipe to it."""


class Crew:
    """The processes of one side: its workers and its client."""

    def __init__(self, side: str, workers: Sequence[Child], client: Child) -> None:
        self.side = side
        self._workers = [process for process, _ in workers]
        self._client, self._pipe = client
        self._all = [*self._workers, self._client]

    def order(self, what: str, count: int) -> None:
        """Tell the client what to do; `answer` returns what came of it."""
        self._pipe.send((what, count))

    def answer(self) -> Any:
        """The client's answer to the last order."""
        return self._pipe.recv()

    def cpu_s(self) -> dict[str, float]:
        """CPU seconds so far, of the workers together and of the client."""
        workers = sum(cpu_s(worker.pid) for worker in self._workers)
        return {"workers": workers, "client": cpu_s(self._client.pid)}

    def kill(self) -> None:
        """Kill all: there is nothing to keep."""
        self._signal(signal.SIGKILL)
        for process in self._all:
            process.join()

    def _signal(self, number: signal.Signals) -> None:
        for process in self._all:
            assert process.pid
            os.kill(process.pid, number)


class Chain(Crew):
    """A crew that can be frozen."""

    def __init__(self, url: str, side: str, groups: Sequence[Sequence[str]]) -> None:
        workers = []
        for names in groups:
            workers.append(start(run_stages, url, side, names))
            for _ in names:
                await_ready(workers[-1][1])
        client = start(run_client, url, side)
        await_ready(client[1])
        super().__init__(side, workers, client)

    @contextmanager
    def awake(self) -> Iterator[None]:
        """Let the processes run; outside of this they are stopped and cost nothing."""
        self._signal(signal.SIGCONT)
        try:
            yield
        finally:
            self._signal(signal.SIGSTOP)


@contextmanager
def running(
    url: str, groups: Sequence[Sequence[str]], sides: Sequence[str] = ("ours", "bare")
) -> Iterator[list[Chain]]:
    """These sides, ready and frozen."""
    chains: list[Chain] = []
    try:
        for side in sides:
            chains.append(Chain(url, side, groups))
            with chains[-1].awake():
                pass
        yield chains
    finally:
        for chain in chains:
            chain.kill()


def cpu_s(pid: int | None) -> float:
    """User and system time of a process, by a clock that the kernel keeps of it: /proc has hundredths only."""
    assert pid
    return time.clock_gettime(~pid << 3 | _OF_A_PROCESS)


def start(run: Callable[..., None], *args: object) -> Child:
    """A process that runs this with these arguments and its end of a pipe."""
    ours, theirs = _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=run, args=(*args, theirs), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def await_ready(pipe: Connection) -> None:
    """Wait until a process says so."""
    if not pipe.poll(_START_S):
        raise SystemExit(f"a process of the benchmark did not start within {_START_S:g} s")
    assert pipe.recv() == READY
