"""A whole system in small: `supervising.py HOME` owns it, with two fake workers, until SIGINT.

Prints one line of JSON with the processes once all is up, and the order of the end.
"""

import asyncio
import json
import signal
import sys
from pathlib import Path

from groundwire.embedded import EmbeddedServer, SystemLock, SystemState
from groundwire.supervisor import Supervisor, WorkerSpec, as_command

WORKER = Path(__file__).resolve().parent / "fake_worker.py"


def say(**facts: object) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


async def main(home: Path) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stopped.set)
    lock = await SystemLock.acquire(home)
    if lock is None:
        say(owner=False)
        return

    def command(consumer: str, lifeline: int) -> list[str]:
        notes = home / "notes"
        return [sys.executable, str(WORKER), "steady", str(notes), consumer, str(lifeline)]

    async def on_death(stage: str, consumer: str, code: int) -> None:
        say(died=consumer)

    with lock:
        server = await EmbeddedServer.start(home)
        specs = [WorkerSpec("understand", 2, as_command(command))]
        supervisor = Supervisor(specs, logs=home / "logs", on_death=on_death)
        await supervisor.start()
        lock.publish(SystemState("unix://", url_file=str(server.url_file)))
        pids = [worker.pid for worker in supervisor.workers()]
        say(owner=True, workers=pids, server=server.pid, guard=server.guard_pid)
        await stopped.wait()
        await supervisor.stop(grace_s=5.0)
        say(server_when_workers_were_gone=server.pid)
        await server.stop()


asyncio.run(main(Path(sys.argv[1])))
