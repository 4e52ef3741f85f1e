"""One worker of a chaos run: `python -m groundwire.chaos.worker STAGE`, like a real one but for its agent.

Reads no settings: where the server is and what the limits are stands in a brief, a 0600 file.
"""

import argparse
import asyncio
import ctypes
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bus import BusConfig, Tls, UrlBackend, Worker
from contracts import Stage
from groundwire import logs, loop
from groundwire.lifeline import watch_lifeline
from groundwire.supervisor import MakeCommand, worker_command

from .agents import handler_of
from .site import NO_TLS
from .versions import NEWER, PRESENT

PROGRAM = "groundwire.chaos.worker"
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Brief:
    """What a worker is told; holds the server's password."""

    url: str
    config: BusConfig
    tls: Tls = NO_TLS

    @property
    def backend(self) -> UrlBackend:
        """Connections to the server."""
        return UrlBackend(self.url, self.tls)

    def write(self, path: Path) -> None:
        """Write it for its owner alone."""
        files = {name: str(file) for name, file in asdict(self.tls).items() if file is not None}
        text = json.dumps({"url": self.url, "config": asdict(self.config), "tls": files})
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)

    @classmethod
    def read(cls, path: Path) -> "Brief":
        """Read what `write` wrote."""
        told = json.loads(path.read_text())
        tls = Tls(**{name: Path(file) for name, file in told["tls"].items()})
        return cls(told["url"], BusConfig(**told["config"]), tls)


def command(stage: str, brief: Path) -> MakeCommand:
    """The command of one such worker, as a process of its own."""
    return worker_command(stage, "--brief", str(brief), program=PROGRAM)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one worker until SIGTERM or the end of the lifeline."""
    parser = argparse.ArgumentParser(prog="python -m groundwire.chaos.worker")
    parser.add_argument("stage")
    parser.add_argument("--consumer", required=True)
    parser.add_argument("--lifeline", type=int, required=True)
    parser.add_argument("--brief", type=Path, required=True)
    parser.add_argument("--newer", action="store_true")
    options = parser.parse_args(arguments)
    _die_with_parent()
    brief = Brief.read(options.brief)
    stage = (NEWER if options.newer else PRESENT).get(options.stage)
    if stage is None:
        parser.error(f"no stage {options.stage!r} of that version")
    loop.run(_run(stage, options.consumer, options.lifeline, brief))
    return 0


def _die_with_parent() -> None:
    """Linux: the kernel ends this process with its parent, or the run's: a frozen one sees no lifeline."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


async def _run(stage: Stage, consumer: str, lifeline: int, brief: Brief) -> None:
    logs.configure("info", as_json=True)
    worker = Worker(
        stage,
        handler_of(stage.name),
        backend=brief.backend,
        consumer=consumer,
        config=brief.config,
        log=logs.bus_log(),
    )
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, worker.stop)
    watch_lifeline(lifeline, lambda: loop.call_soon_threadsafe(worker.stop))
    await worker.run()


if __name__ == "__main__":
    sys.exit(main())
