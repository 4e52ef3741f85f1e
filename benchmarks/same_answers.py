"""Whether the same questions get the same answers from any number of workers, after kills and after ingestion.

`python -m benchmarks.same_answers [--workers 1 --workers 2 --workers 8] [--profile default] [--json]`. The questions
are the handbook's. Compared is the whole response but the ids of query and session, byte for byte, with what one
worker a stage said first.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from contracts import TOPOLOGY, FormattedResponse, Query
from groundwire.settings import load_settings
from groundwire.system import System, running_system
from groundwire.wiring import Intake, ingest_corpus

HANDBOOK = Path(__file__).resolve().parent.parent / "examples" / "handbook"
COUNTS = (1, 2, 8)
KILLS = 6
SEED = 5
Answers = dict[str, str]


@dataclass(frozen=True)
class Differing:
    """How many of the questions got another answer under each condition."""

    profile: str
    questions: int
    workers: dict[int, int]
    after_kills: int
    after_ingestion: int
    seed: int = SEED


def questions(limit: int | None = None) -> list[str]:
    """The handbook's, each once."""
    lines = (HANDBOOK / "questions.jsonl").read_text("utf-8").splitlines()
    return list(dict.fromkeys(json.loads(line)["question"] for line in lines))[:limit]


@asynccontextmanager
async def up(folder: Path, profile: str, count: int) -> AsyncIterator[System]:
    """A system in a folder with so many workers a stage."""
    settings = load_settings({"GROUNDWIRE_PROFILE": profile}, folder)
    changed = {"home": folder / ".groundwire", "alive_ttl_s": 1.0}
    counts = {stage.name: count for stage in TOPOLOGY.stages}
    async with running_system(
        settings.model_copy(update=changed), docs=None, counts=counts
    ) as system:
        yield system


async def answers(system: System, asked: Sequence[str], *, kills: int = 0) -> Answers:
    """What each question gets, all published at once; workers are killed meanwhile, by seed."""
    ids = await system.bus.submit_many(
        [Query(text=text, session_id=f"s{at}") for at, text in enumerate(asked)]
    )
    killing = asyncio.create_task(_kill(system, kills))
    found = {}
    for text, query_id in zip(asked, ids, strict=True):
        found[text] = _bare(await system.bus.result(query_id, timeout_s=300.0))
    await killing
    return found


async def _kill(system: System, times: int) -> None:
    dice = random.Random(SEED)
    for _ in range(times):
        await asyncio.sleep(dice.uniform(0.0, 0.2))
        pid = dice.choice(system.supervisor.workers()).pid
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _bare(response: FormattedResponse) -> str:
    return response.model_copy(update={"query_id": "q", "session_id": "s"}).model_dump_json()


def ingest(folder: Path, profile: str) -> None:
    """Make the folder's documents current."""
    ingest_corpus(Intake([folder / "docs"], folder / ".groundwire" / "corpus", profile))


def ingest_again(folder: Path, profile: str) -> None:
    """Go to another version, and back to the documents as they were."""
    page = folder / "docs" / "refunds.md"
    text = page.read_text("utf-8")
    for changed in (f"{text}\n## Another section\n\nRefunds are another matter.\n", text):
        page.write_text(changed, "utf-8")
        ingest(folder, profile)


def differing(first: Answers, then: Answers) -> int:
    """How many answers are other ones."""
    return sum(first[text] != then[text] for text in first)


async def measure(
    folder: Path, profile: str, counts: Sequence[int], limit: int | None = None
) -> Differing:
    """Ask everything under each condition, in a folder of its own."""
    shutil.copytree(HANDBOOK, folder / "docs")
    ingest(folder, profile)
    asked, found = questions(limit), list[Answers]()
    for count in counts[:-1]:
        async with up(folder, profile, count) as system:
            found.append(await answers(system, asked))
    async with up(folder, profile, counts[-1]) as system:
        found.append(await answers(system, asked))
        killed = await answers(system, asked, kills=KILLS)
        await asyncio.to_thread(ingest_again, folder, profile)
        again = await answers(system, asked)
    first = found[0]
    return Differing(
        profile=profile,
        questions=len(asked),
        workers={count: differing(first, then) for count, then in zip(counts, found, strict=True)},
        after_kills=differing(first, killed),
        after_ingestion=differing(first, again),
    )


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_answers", description=__doc__)
    parser.add_argument("--workers", type=int, action="append", help="a stage; default 1, 2, 8")
    parser.add_argument("--profile", default="default")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="same-") as folder:
        counts = options.workers or COUNTS
        report = asdict(asyncio.run(measure(Path(folder), options.profile, counts)))
    if options.json:
        print(json.dumps(report))
        return
    for name, value in report.items():
        print(f"{name:<16} {value}")


if __name__ == "__main__":
    main()
