"""Where workers are born fast: one process that has imported and opened what they need, and forks.

This is the side that asks: it knows processes, and nothing of what they do. The other side is `groundwire.forked`.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["Child", "Nursery"]

LOST_CODE = -signal.SIGKILL
"""What a child is taken to have ended with when the nursery died: nobody will ever tell."""
CAN_FORK = sys.platform == "linux"  # macOS ends a process that uses its frameworks after a fork


class Child:
    """A worker of a nursery, to whoever supervises it like a process of its own."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = asyncio.Event()

    async def wait(self) -> int:
        """Return when it has ended: its exit code, or the negative number of the signal that ended it."""
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        """Signal it; nothing if it has ended."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def end(self, code: int) -> None:
        """Take down how it ended."""
        self.returncode = code
        self._ended.set()


class Nursery:
    """The connection to a nursery process; a new process whenever the last one died.

    **Invariant**: no child outlives its nursery, and no nursery this process: each holds the end of a pipe or
    socket that the other side sees closed.
    """

    def __init__(
        self, log_file: Path, env: Mapping[str, str], *, program: str = "groundwire.worker"
    ) -> None:
        """`program`: a module whose `main` is a worker; its import, and its `preload` if it has one, come before."""
        self.program = program
        self._log_file = log_file
        self._env = {**env, "TOKENIZERS_PARALLELISM": "false"}  # its threads don't survive a fork
        self._process: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._born: dict[int, asyncio.Future[Child]] = {}
        self._children: dict[int, Child] = {}
        self._next = 0

    async def bear(self, arguments: Sequence[str], log_file: Path) -> Child:
        """Fork a worker with these arguments, its output appended to the log; OSError if none can be born."""
        async with self._starting:
            if self._listening is None or self._listening.done():
                await self._start()
        assert self._writer is not None
        self._next += 1
        future = self._born[self._next] = asyncio.get_running_loop().create_future()
        asked = {"number": self._next, "arguments": list(arguments), "log": str(log_file)}
        self._writer.write(json.dumps(asked).encode() + b"\n")
        child: Child = await future
        return child

    async def close(self) -> None:
        """End the nursery, and with it what is left of its children."""
        if self._writer is not None:
            self._writer.close()
        if self._process is not None:
            await self._process.wait()
        if self._listening is not None:
            await self._listening
        if self._writer is not None:
            with suppress(ConnectionError):
                await self._writer.wait_closed()

    async def _start(self) -> None:
        ours, theirs = socket.socketpair()
        output = os.open(self._log_file, _APPEND, 0o600)
        with theirs:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-P", "-m", "groundwire.forked"),
                    *(str(theirs.fileno()), self.program),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env=self._env,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            except BaseException:
                ours.close()
                raise
            finally:
                os.close(output)
        reader, self._writer = await asyncio.open_connection(sock=ours)
        self._listening = asyncio.create_task(self._listen(reader, self._writer), name="nursery")

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while line := await reader.readline():
                self._take(json.loads(line))
        writer.close()
        for future in self._born.values():
            if not future.done():
                future.set_exception(OSError(f"the nursery ended: see {self._log_file}"))
        for child in self._children.values():
            child.end(LOST_CODE)
        self._born, self._children = {}, {}

    def _take(self, told: dict[str, Any]) -> None:
        if "code" in told:
            self._children.pop(told["pid"]).end(told["code"])
            return
        future = self._born.pop(told["number"])
        if "fault" in told:
            future.set_exception(OSError(told["fault"]))
            return
        child = self._children[told["pid"]] = Child(told["pid"])
        if future.cancelled():  # whoever asked is gone
            child.send_signal(signal.SIGKILL)
        else:
            future.set_result(child)


_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND
