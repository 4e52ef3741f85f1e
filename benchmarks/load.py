"""Answers under a steady load: so many questions a minute of a large corpus, and how long each takes.

`python -m benchmarks.load [--minutes 10] [--rate 200] [--documents 5000] [--profile PATH] [--json]`. The documents are
those of `generated_corpus` (5,000 make 104,772 passages) with the handbook's intents, the questions the handbook's. A
question is published at its second whether or not the ones before it are answered, and timed from there to its result,
so what queues counts. Found by words unless another profile is named, whose vectors take long to make first.
"""

import argparse
import asyncio
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from contracts import Query
from groundwire.settings import Settings, load_settings
from groundwire.system import System, running_system
from groundwire.threads import compute_on_one

from . import generated_corpus
from .ingestion import words_alone
from .resident import memory_of
from .same_answers import HANDBOOK, questions

WARM = 20
"""Questions before the clock starts."""
WAIT_S = 120.0


@dataclass(frozen=True)
class Load:
    """The figures. Times are from publishing to the result.

    `late_ms`: how far the publisher itself fell behind at worst. `memory_mb`: of each kind of process its proportional
    set, in which what is shared counts once in all.
    """

    cores: int
    documents: int
    passages: int
    ingestion_s: float
    rate_per_min: float
    asked: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float
    late_ms: float
    failed: int
    statuses: dict[str, int]
    memory_mb: dict[str, float]


async def ask(system: System, text: str) -> tuple[str, float]:
    """A question's status, and milliseconds until it was there."""
    begun = time.perf_counter()
    query_id = await system.bus.submit(Query(text=text, session_id="load"))
    response = await system.bus.result(query_id, timeout_s=WAIT_S)
    return response.status, 1_000 * (time.perf_counter() - begun)


async def load(
    system: System, rate: float, seconds: float
) -> tuple[list[tuple[str, float]], float]:
    """What every question took, and the most by which one was published late."""
    asked, late, tasks = questions(), 0.0, list[asyncio.Task[tuple[str, float]]]()
    begun = time.perf_counter()
    for at in range(round(rate * seconds / 60)):
        due = begun + at * 60 / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        late = max(late, time.perf_counter() - due)
        tasks.append(asyncio.create_task(ask(system, asked[at % len(asked)])))
    return await asyncio.gather(*tasks), 1_000 * late


def memory(system: System) -> dict[str, float]:
    """Megabytes of the workers, by stage, of the server and of all else that the system runs."""
    workers = system.supervisor.workers()
    named: dict[int, str] = {one.pid: one.stage for one in workers if one.pid is not None}
    server = int((system.settings.home / "server" / "pid").read_text())
    named |= {server: "server", os.getpid(): "up and this program"}
    found: dict[str, float] = {}
    for pid in _family(os.getpid()) | set(named):
        told, name = memory_of(pid), named.get(pid, "nursery and guard")
        found[name] = found.get(name, 0.0) + told["private"] + told["shared_out"]
    return {name: round(value, 1) for name, value in sorted(found.items())} | {
        "all": round(sum(found.values()), 1)
    }


def _family(pid: int) -> set[int]:
    """The processes that a process started, and that those did, as far as they still run."""
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,comm="], capture_output=True, text=True, check=True
    )
    rows = [line.split(maxsplit=2) for line in listing.stdout.splitlines()]
    pairs = [(int(child), int(parent)) for child, parent, name in rows if name != "ps"]
    found, generation = set[int](), {pid}
    while generation:
        generation = {child for child, parent in pairs if parent in generation} - found
        found |= generation
    return found


def ingest(folder: Path, profile: str) -> int:
    """Make the documents current, in a process of its own whose memory is gone afterwards; how many passages."""
    command = [sys.executable, "-m", "groundwire", "ingest", "docs", "--json", "--profile", profile]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return int(json.loads(done.stdout)["passages"])


async def measure(settings: Settings, documents: int, rate: float, seconds: float) -> Load:
    """Make the corpus, start everything, load it."""
    folder = settings.home.parent
    generated_corpus.write(folder / "docs", documents)
    shutil.copy(HANDBOOK / "intents.toml", folder / "docs")
    begun = time.perf_counter()
    passages = await asyncio.to_thread(ingest, folder, settings.profile)
    ingestion_s = time.perf_counter() - begun
    async with running_system(settings, docs=None) as system:
        for text in questions(WARM):
            await ask(system, text)
        told, late_ms = await load(system, rate, seconds)
        held = memory(system)
    times = sorted(ms for _, ms in told)
    statuses = Counter(status for status, _ in told)

    def at(share: float) -> float:
        return round(times[math.ceil(share * len(times)) - 1], 1)

    return Load(
        cores=len(os.sched_getaffinity(0)),
        documents=documents,
        passages=passages,
        ingestion_s=round(ingestion_s, 1),
        rate_per_min=rate,
        asked=len(told),
        p50_ms=at(0.50),
        p95_ms=at(0.95),
        p99_ms=at(0.99),
        max_ms=round(times[-1], 1),
        late_ms=round(late_ms, 1),
        failed=statuses["failed"],
        statuses=dict(statuses),
        memory_mb=held,
    )


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=200.0, help="questions a minute")
    parser.add_argument("--documents", type=int, default=generated_corpus.DOCUMENTS)
    parser.add_argument("--profile", help="default: `default` without its vectors")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    options = parser.parse_args()
    compute_on_one()
    with tempfile.TemporaryDirectory(prefix="load-") as name:
        folder = Path(name)
        profile = options.profile or words_alone(folder)
        settings = load_settings({"GROUNDWIRE_PROFILE": profile}, folder)
        settings = settings.model_copy(update={"home": folder / ".groundwire"})
        work = measure(settings, options.documents, options.rate, 60 * options.minutes)
        report = asdict(asyncio.run(work))
    if options.json:
        print(json.dumps(report))
        return
    for figure, value in report.items():
        print(f"{figure:<14} {value}")


if __name__ == "__main__":
    main()
