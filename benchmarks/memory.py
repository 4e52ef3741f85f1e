"""What each worker of `up` holds in memory, two of them retrieve, after questions that touch all of a corpus.

`python -m benchmarks.memory [--documents 5000] [--json]`. The documents are those of `generated_corpus`, found by
words. Megabytes of /proc/PID/smaps_rollup: `resident` is all that a process sees, `private` what would be free if it
ended, `shared out` its part of what it shares with others (its proportional set without the private part).
"""

import argparse
import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from contracts import Query
from groundwire.settings import load_settings
from groundwire.system import running_system, worker_counts
from groundwire.threads import compute_on_one

from . import generated_corpus
from .ingestion import ingest, words_alone
from .resident import memory_of

ROUNDS = 4
"""Times that each heading of the handbook is asked for: so that either worker gets its share."""


async def measure(folder: Path, documents: int) -> dict[str, Any]:
    """The workers' memory, in a folder of its own."""
    generated_corpus.write(folder / "docs", documents)
    ingest(folder)
    settings = load_settings({"GROUNDWIRE_PROFILE": words_alone(folder)}, folder)
    settings = settings.model_copy(update={"home": folder / ".groundwire"})
    headings = [text.splitlines()[0] for text in generated_corpus.handbook_sections()]
    questions = [f"What about {one.removeprefix('## ')}?" for one in headings * ROUNDS]
    counts = worker_counts("retrieve=2")
    async with running_system(settings, docs=None, counts=counts) as system:
        asked = [Query(text=text, session_id="benchmark") for text in questions]
        for query_id in await system.bus.submit_many(asked):
            await system.bus.result(query_id, timeout_s=120)
        workers = [(one.stage, one.pid) for one in system.supervisor.workers()]
        held = [(stage, memory_of(pid)) for stage, pid in workers if pid is not None]
    first, second = (memory for stage, memory in held if stage == "retrieve")
    return {
        "documents": documents,
        "questions": len(questions),
        "workers": [{"stage": stage, **memory} for stage, memory in held],
        "second_private_of_first_resident": round(second["private"] / first["resident"], 3),
    }


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--documents", type=int, default=generated_corpus.DOCUMENTS)
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    options = parser.parse_args()
    compute_on_one()
    with tempfile.TemporaryDirectory(prefix="memory-") as folder:
        report = asyncio.run(measure(Path(folder), options.documents))
    if options.json:
        print(json.dumps(report))
        return
    print(f"{'MB':<12} resident   private  shared out")
    for one in report["workers"]:
        print(
            f"{one['stage']:<12} {one['resident']:>8} {one['private']:>9} {one['shared_out']:>11}"
        )
    print(
        f"second retrieve, private / first, resident: {report['second_private_of_first_resident']:.1%}"
    )


if __name__ == "__main__":
    main()
