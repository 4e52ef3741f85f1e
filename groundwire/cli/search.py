"""`groundwire search`: the passages that a question would be answered from, and why those."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contracts import Invalid, Misconfigured
from contracts.query import PUBLIC

from .codes import ExitCode
from .context import console, console_err, run_async, settings, write_json

if TYPE_CHECKING:
    from groundwire.profiles import Profile
    from groundwire.wiring.searching import Explained, Explanation

EPILOG = """Examples:

  groundwire search "Can I get a refund on an annual plan?"

  groundwire search "annual refund" --explain --docs examples/handbook

  groundwire search "annual refund" --html why.html --k 20

  groundwire search "annual refund" --profile fast --label staff --json | jq .passages[0].source
"""
SHOWN = 10


@dataclass(frozen=True)
class Searched:
    """What was asked of which profile, and what came of it."""

    question: str
    labels: tuple[str, ...]
    profile: "Profile"
    found: "Explanation"


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("search", epilog=EPILOG)(search)


def search(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    explain: Annotated[
        bool, typer.Option("--explain", help="Show every score and rank, who moved, and why.")
    ] = False,
    profile: Annotated[
        str | None, typer.Option(help="Whose search: a name, or a .toml file.")
    ] = None,
    docs: Annotated[
        Path | None,
        typer.Option(help="Search these documents, or this corpus, instead of the ingested one."),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label", "--labels", help="Of documents to search; again for more. Default: public."
        ),
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", help="How many passages are shown.", min=1, max=100)
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the explanation to this file, as a page.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="All of it as JSON, explained or not.")
    ] = False,
) -> int:
    """Search as the retrieve agent does, without a running system; exit code 0 also if nothing is found.

    More passages are shown than an answer is written from; a line marks where those end.
    """
    searched = _search(question, profile, docs, tuple(label or [PUBLIC]), k)
    if html is not None:
        _write_page(html, searched)
    if as_json:
        write_json(as_value(searched))
    else:
        from .explained import show

        show(console(), searched, explain=explain)
    if html is not None:
        console_err().print(f"written to {html}", markup=False, highlight=False)
    return ExitCode.ANSWERED


def _search(
    question: str, profile: str | None, docs: Path | None, labels: tuple[str, ...], k: int | None
) -> Searched:
    from pydantic import ValidationError

    from contracts.envelope import fields_at_fault
    from groundwire.wiring import assemble, endpoint_of, stand_in
    from groundwire.wiring.searching import build_explainer

    known = settings(profile=profile)
    if docs is None and not known.corpus.is_dir():
        raise Misconfigured(
            f"nothing has been ingested in {known.corpus}: run `groundwire ingest PATH`, or give --docs"
        )
    if (note := stand_in(known.profile)) is not None:
        console_err().print(note, markup=False, highlight=False)
    with console_err().status("searching"):
        assembly = assemble(known.profile, docs or known.corpus, endpoint=endpoint_of(known))
        used = assembly.profile
        find = build_explainer(assembly, labels=labels, k=k or shown(used))
        try:
            found = run_async(find(question))
        except ValidationError as error:
            raise Invalid(f"the question was not accepted: {fields_at_fault(error)}") from error
    return Searched(question, labels, used, found)


def shown(profile: "Profile") -> int:
    """How many are shown by default: more than are kept, unless the order depends on how many those are."""
    kept = profile.retrieve.k
    return kept if profile.retrieve.rerank == "pairs" else max(kept, SHOWN)


def _write_page(path: Path, searched: Searched) -> None:
    from .page import page

    try:
        path.write_text(page(searched), encoding="utf-8", errors="replace")
    except OSError as error:
        raise Misconfigured(f"{path} cannot be written: {error.strerror}") from error


def as_value(searched: Searched) -> dict[str, object]:
    """Everything that is known of a search, for a program."""
    used, context = searched.profile, searched.found.context
    return {
        "question": searched.question,
        "labels": searched.labels,
        "profile": used.name,
        "configdigest": used.digest,
        "corpus_version": context.corpus_version,
        "signals": context.signals,
        "candidates": searched.found.candidates,
        "sought": searched.found.sought or searched.question,
        "k": used.retrieve.k,
        "fusion": used.retrieve.fusion,
        "alpha": used.retrieve.alpha,
        "rerank": used.retrieve.rerank,
        "passages": [_passage(one) for one in searched.found.passages],
    }


def _passage(one: "Explained") -> dict[str, object]:
    return {
        **one.passage.model_dump(mode="json"),
        "keyword_rank": one.keyword_rank,
        "vector_rank": one.vector_rank,
        "fused": {part.name: part.points for part in one.fused},
        "features": {part.name: {"value": part.value, "points": part.points} for part in one.told},
        "moved": one.moved,
    }
