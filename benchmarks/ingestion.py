"""How long documents take until they answer, and what a second worker on them costs in memory.

`python -m benchmarks.ingestion [--documents 5000] [--json]`. The documents are those of `generated_corpus`; every
step is the command as a user runs it, and the readers are processes that search as a retrieve worker does.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from . import generated_corpus
from .resident import memory_of

PAGE = "part-00/page-00000.md"
WORD = "zanzibarium"
LIMIT_S = 300.0


@dataclass(frozen=True)
class Reader:
    """A process that searches the corpus again and again, and says which passages it found."""

    process: "subprocess.Popen[str]"

    def ask(self, text: str) -> list[str]:
        """The texts of the passages that are found for a question."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(text) + "\n")
        self.process.stdin.flush()
        return list(json.loads(self.process.stdout.readline()))

    def memory(self) -> dict[str, float]:
        """Megabytes, as `memory_of` tells them."""
        return memory_of(self.process.pid)


@contextmanager
def reader(root: Path) -> Iterator[Reader]:
    """A reader of a corpus, until the block ends."""
    command = [sys.executable, "-m", "benchmarks.ingestion", "--reader", str(root)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Reader(process)
        finally:
            process.kill()


def read_forever(root: Path) -> None:
    """Answer questions of standard input by passages, as a retrieve worker does."""
    import asyncio

    from contracts import Intent, Query, RetrievedContext
    from groundwire.wiring import assemble, build_handler

    handle = build_handler("retrieve", assemble(words_alone(root.parent), root))

    async def found(text: str) -> list[str]:
        query = Query(text=text, session_id="benchmark", query_id="0-benchmark")
        intent = Intent(
            query=query,
            cleaned_text=text,
            label="any",
            confidence=1.0,
            category_scores={},
            in_scope=True,
        )
        context = await handle(intent)
        assert isinstance(context, RetrievedContext)
        return [passage.text for passage in context.passages]

    with asyncio.Runner() as runner:
        for line in sys.stdin:
            print(json.dumps(runner.run(found(json.loads(line)))), flush=True)


def words_alone(folder: Path) -> str:
    """The path of profile `default` without its vectors, which follow in a later version and take their time."""
    shipped = (files("groundwire.profiles") / "default.toml").read_text("utf-8")
    path = folder / "words.toml"
    path.write_text(shipped.replace('embedder = "minilm"', 'embedder = "none"'), "utf-8")
    return str(path)


def ingest(folder: Path) -> tuple[float, dict[str, Any]]:
    """Seconds of one `groundwire ingest docs`, and its summary."""
    words = words_alone(folder)
    command = [sys.executable, "-m", "groundwire", "ingest", "docs", "--json", "--profile", words]
    started = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - started
    if done.returncode:
        raise RuntimeError(done.stderr)
    return round(seconds, 2), json.loads(done.stdout)


def served(folder: Path, worker: Reader) -> float:
    """Seconds from an edited page to a running worker that finds what it says."""
    page = folder / "docs" / PAGE
    page.write_text(f"{page.read_text('utf-8')}\n## Found\n\nThe {WORD} is open.\n", "utf-8")
    started = time.monotonic()
    ingest(folder)
    while not any(WORD in text for text in worker.ask(WORD)):
        if time.monotonic() - started > LIMIT_S:
            raise RuntimeError("the edited page was never found")
    return round(time.monotonic() - started, 2)


def warm(worker: Reader) -> None:
    """Let a reader touch what questions of all kinds touch."""
    for section in generated_corpus.handbook_sections():
        worker.ask(section.splitlines()[0].removeprefix("## "))


def idle(folder: Path) -> float:
    """Private MB of a reader of a corpus of one page, found in memory: mostly the interpreter."""
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "page.md").write_text("One page.", "utf-8")
    ingest(folder)
    with reader(folder / ".groundwire" / "corpus") as one:
        one.ask("page")
        return one.memory()["private"]


def measure(documents: int) -> dict[str, Any]:
    """All figures, in one temporary folder."""
    with tempfile.TemporaryDirectory(prefix="ingestion-") as name:
        folder = Path(name)
        idle_mb = idle(folder / "small")
        root = folder / ".groundwire" / "corpus"
        generated_corpus.write(folder / "docs", documents)
        first_s, summary = ingest(folder)
        nothing_s, again = ingest(folder)
        if again["is_new"]:
            raise RuntimeError("an ingestion of the same documents made another version")
        with reader(root) as one:
            warm(one)
            served_s = served(folder, one)
        with reader(root) as one:
            warm(one)
            alone = one.memory()
            with reader(root) as two:
                warm(two)
                second = two.memory()
        version = json.loads(ingest_list(folder))[0]["version"]
        size = sum(p.stat().st_size for p in (root / "snapshots" / version).rglob("*"))
    return {
        "documents": summary["documents"],
        "passages": summary["passages"],
        "first_s": first_s,
        "nothing_changed_s": nothing_s,
        "edit_to_served_s": served_s,
        "snapshot_mb": round(size / 2**20, 1),
        "idle_private_mb": idle_mb,
        "first_resident_mb": alone["resident"],
        "second_private_mb": second["private"],
    }


def ingest_list(folder: Path) -> str:
    """What `groundwire corpus list --json` prints."""
    command = [sys.executable, "-m", "groundwire", "corpus", "list", "--json"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ingestion", description=__doc__)
    parser.add_argument("--documents", type=int, default=generated_corpus.DOCUMENTS)
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    parser.add_argument("--reader", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reader is not None:
        read_forever(options.reader)
        return
    report = measure(options.documents)
    if options.json:
        print(json.dumps(report))
        return
    for name, value in report.items():
        print(f"{name:<26} {value:,}")


if __name__ == "__main__":
    main()
