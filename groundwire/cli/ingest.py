"""`groundwire ingest`: documents become the corpus that answers."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contracts import GroundwireError, Invalid

from .aside import show_aside
from .codes import ExitCode
from .context import console, console_err, settings, write, write_json
from .progress import progress_bar
from .turn import WAIT_S, Wait, in_turn

if TYPE_CHECKING:
    from groundwire.corpus import Changes, DryRun, Ingestion, Problem
    from groundwire.settings import Settings
    from groundwire.wiring import Intake

EPILOG = """Examples:

  groundwire ingest examples/handbook

  groundwire ingest docs/ passages.jsonl --json

  groundwire ingest docs/ --dry-run

  groundwire ingest docs/ --label staff --watch
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("ingest", epilog=EPILOG)(ingest)


def ingest(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Folders, documents, files of questions and answers or of passages."),
    ],
    profile: Annotated[str | None, typer.Option(help="Whose chunking is used.")] = None,
    intents: Annotated[
        Path | None, typer.Option(help="An intents.toml instead of the one beside the documents.")
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="Label of documents that name none; may be given again."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would change; change nothing.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Ingest again whenever a file changes, until Ctrl-C.")
    ] = False,
    wait: Wait = WAIT_S,
    as_json: Annotated[bool, typer.Option("--json", help="The summary as JSON.")] = False,
) -> int:
    """Read documents into a new snapshot and make it current; running workers move to it by themselves.

    Only what changed is read again. What can't be read is named and left out; then the exit code is 1.
    """
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise Invalid(f"no such file or folder: {', '.join(missing)}")
    if watch and dry_run:
        raise Invalid("--watch and --dry-run don't go together")
    from groundwire.wiring import Intake

    known = settings(profile=profile, intents=intents)
    job = _Job(Intake.of(known, paths, label or ()), wait, as_json)
    if dry_run:
        return job.plan()
    code = job.run()
    if watch:
        with suppress(KeyboardInterrupt):  # also in the midst of an ingestion: that harms nothing
            for _ in _changes(paths, known):
                job.run_again()
    return code


@dataclass(frozen=True)
class _Job:
    """One command line, run once or again and again."""

    intake: "Intake"
    wait_s: float
    as_json: bool

    def run(self) -> int:
        scope: list[str] = []
        done = in_turn(lambda: self._ingest(scope), self.wait_s)
        if self.as_json:
            write_json(done)
        else:
            _show(done)
            for line in scope:
                write(line)
        return ExitCode.FAILED if done.problems else ExitCode.ANSWERED

    def _ingest(self, scope: list[str]) -> "Ingestion":
        from groundwire.wiring import ingest_corpus

        scope.clear()
        with progress_bar() as on_progress:
            return ingest_corpus(self.intake, on_progress=on_progress, on_scope=scope.append)

    def run_again(self) -> None:
        """What goes wrong while a page is being written is said; the next change may mend it."""
        try:
            self.run()
        except GroundwireError as error:
            console_err().print(f"groundwire: {error}", style="red", markup=False, highlight=False)

    def plan(self) -> int:
        from groundwire.wiring import plan_ingestion

        with progress_bar() as on_progress:
            told = plan_ingestion(self.intake, on_progress=on_progress)
        if self.as_json:
            write_json(told)
        else:
            _show_plan(told)
        return ExitCode.FAILED if told.problems else ExitCode.ANSWERED


def _changes(paths: list[Path], known: "Settings") -> Iterator[object]:
    """Whenever something under the paths changed that isn't hidden, nor the corpus itself."""
    from watchfiles import Change
    from watchfiles import watch as watch_files

    roots = [path.resolve() for path in paths]
    own = [known.home.resolve(), known.corpus.resolve()]

    def is_meant(change: Change, name: str) -> bool:
        path = Path(name)
        below = [path.relative_to(root) for root in roots if path.is_relative_to(root)]
        hidden = all(any(part.startswith(".") for part in way.parts) for way in below)
        return not hidden and not any(path.is_relative_to(folder) for folder in own)

    console_err().print("[dim]watching; Ctrl-C ends it[/dim]")
    return watch_files(*roots, watch_filter=is_meant, raise_interrupt=False)


def _show(done: "Ingestion") -> None:
    console().print(
        f"{done.documents} documents, {done.passages} passages, {done.characters} characters: "
        f"snapshot {done.version} is current",
        soft_wrap=True,
    )
    words = _words(done.changes)
    console_err().print(f"[dim]{words} in {done.seconds:.1f} s[/dim]", highlight=False)
    show_aside(done.aside)
    _show_problems(done.problems)


def _show_plan(told: "DryRun") -> None:
    changes = told.changes
    lines = [
        *(f"+ {name}" for name in changes.added),
        *(f"~ {name}" for name in changes.changed),
        *(f"> {old} to {new}" for old, new in changes.moved),
        *(f"- {name}" for name in changes.removed),
    ]
    for line in lines:
        console().print(line, markup=False, soft_wrap=True)
    outcome = "a new snapshot would become current" if told.would_switch else "nothing would change"
    console().print(f"{_words(changes)}: {outcome}")
    _show_problems(told.problems)


def _words(changes: "Changes") -> str:
    counts = {
        "added": len(changes.added),
        "changed": len(changes.changed),
        "moved": len(changes.moved),
        "removed": len(changes.removed),
        "unchanged": changes.unchanged,
    }
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "no files"


def _show_problems(problems: "tuple[Problem, ...]") -> None:
    for problem in problems:
        console_err().print(
            f"left out {problem.source}: {problem.reason}", markup=False, soft_wrap=True
        )
