"""`groundwire corpus`: the versions of the corpus, what is in them, and the way back."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from contracts import Invalid

from .aside import aside_line
from .context import console, settings, write, write_json
from .progress import progress_bar
from .turn import WAIT_S, Wait, in_turn

if TYPE_CHECKING:
    from groundwire.corpus import Snapshot
    from groundwire.corpus.remote import Remote

EPILOG = """Examples:

  groundwire corpus list

  groundwire corpus show refunds.md

  groundwire corpus diff f47c41e6512c9084 8d1c6b0a2f3e4d5c

  groundwire corpus rollback
"""
Json = Annotated[bool, typer.Option("--json", help="As JSON.")]
URL = "Like s3://bucket/corpus; by default the setting corpus_url."
VERSION = "As printed by `corpus list`."

corpus = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(
        corpus,
        name="corpus",
        help="Versions of the corpus: list, show, diff, rollback, prune, publish, fetch.",
        epilog=EPILOG,
    )


@corpus.command("list")
def list_versions(as_json: Json = False) -> int:
    """Every stored version, newest first: which one answers, and which ones are being read."""
    from groundwire.corpus import versions

    found = versions(settings().corpus)
    if as_json:
        write_json(
            [
                asdict(one) | {"current_until": one.current_until and str(one.current_until)}
                for one in found
            ]
        )
        return 0
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("version", "made", "documents", "passages", "parts", ""):
        table.add_column(column)
    for one in found:
        state = [
            word for word, is_so in (("current", one.is_current), ("read", one.is_read)) if is_so
        ]
        counts = (str(one.counts.documents), str(one.counts.passages))
        table.add_row(
            one.version, one.created_at[:19], *counts, ", ".join(one.parts), ", ".join(state)
        )
    console().print(table if found else "no versions yet")
    return 0


@corpus.command("show")
def show(
    doc_id: Annotated[str, typer.Argument(metavar="DOC", help="Id of a document.")],
    version: Annotated[str | None, typer.Option(help=VERSION)] = None,
    as_json: Json = False,
) -> int:
    """A document as it is stored: what is known of it, and its passages with their places."""
    snapshot = _snapshot(version)
    document = snapshot.documents.get(doc_id)
    if document is None:
        raise Invalid(
            f"version {snapshot.version} has no document {doc_id!r}{_near(snapshot, doc_id)}"
        )
    if as_json:
        write_json({"version": snapshot.version, **asdict(document)})
        return 0
    told = {
        "document": document.doc_id,
        "title": document.title,
        "source": document.source,
        "labels": ", ".join(document.labels),
        "language": document.language or "",
        "modified": document.modified or "",
        "version": snapshot.version,
    }
    for name, value in told.items():
        if value:
            write(f"{name:<9} {value}")
    for one in document.aside:
        write(f"aside     {aside_line(one)}")
    for passage in document.passages:
        write(f"\n{passage.passage_id} [{passage.char_start}:{passage.char_end}]")
        write(" › ".join(passage.heading_path))
        write(document.text_of(passage))
    return 0


@corpus.command("diff")
def diff(
    old: Annotated[str, typer.Argument(metavar="A", help=VERSION)],
    new: Annotated[
        str | None, typer.Argument(metavar="B", help="By default the current one.")
    ] = None,
    as_json: Json = False,
) -> int:
    """What changed from one version to another: documents, chunking, intents, parts."""
    from groundwire.corpus import difference

    found = difference(_snapshot(old), _snapshot(new))
    if as_json:
        write_json(found)
        return 0
    marked = (("+", found.added), ("~", found.changed), ("-", found.removed))
    for sign, names in marked:
        for name in names:
            write(f"{sign} {name}")
    for name in found.settings:
        write(f"~ {name}")
    counts = (len(found.added), len(found.changed), len(found.removed), found.unchanged)
    write("{} added, {} changed, {} removed, {} unchanged".format(*counts))
    return 0


@corpus.command("rollback")
def rollback(
    version: Annotated[
        str | None, typer.Argument(help="By default the one that was current before.")
    ] = None,
    wait: Wait = WAIT_S,
    as_json: Json = False,
) -> int:
    """Make an older version current again, verified first; running workers move to it by themselves."""
    from groundwire.corpus import rollback as roll_back

    root = settings().corpus
    before, after = in_turn(lambda: roll_back(root, version), wait)
    if as_json:
        write_json({"from": before, "to": after})
    else:
        write(f"snapshot {after} is current, instead of {before}")
    return 0


@corpus.command("prune")
def prune(
    keep: Annotated[int, typer.Option(help="The newest so many stay.", min=1)] = 3,
    grace: Annotated[
        float | None,
        typer.Option(
            help="Seconds a replaced version stays; by default as long as a query may.", min=0
        ),
    ] = None,
    wait: Wait = WAIT_S,
    as_json: Json = False,
) -> int:
    """Remove old versions: never one that answers, that a worker reads, or that an open query may name."""
    from groundwire.corpus import prune as remove

    known = settings()
    grace_s = known.deadline_s if grace is None else grace
    gone = in_turn(lambda: remove(known.corpus, keep=keep, grace_s=grace_s), wait)
    if as_json:
        write_json({"removed": gone})
    else:
        write("\n".join(f"removed {version}" for version in gone) or "nothing to remove")
    return 0


@corpus.command("publish")
def publish(
    url: Annotated[str | None, typer.Argument(metavar="URL", help=URL)] = None,
    as_json: Json = False,
) -> int:
    """Upload the current version to storage, verified first; workers with that `corpus_url` move to it."""
    known = settings()
    with progress_bar() as on_progress:
        version = _remote(url).publish(known.corpus, on_progress)
    if as_json:
        write_json({"version": version})
    else:
        write(f"snapshot {version} is published")
    return 0


@corpus.command("fetch")
def fetch(
    url: Annotated[str | None, typer.Argument(metavar="URL", help=URL)] = None,
    as_json: Json = False,
) -> int:
    """Bring the version that is current on storage, verify it, and make it current here."""
    known = settings()
    with progress_bar() as on_progress:
        version = _remote(url).fetch(known.corpus, on_progress)
    if as_json:
        write_json({"version": version})
    else:
        write("it is current here already" if version is None else f"snapshot {version} is current")
    return 0


def _remote(url: str | None) -> "Remote":
    from groundwire.corpus.remote import Remote

    chosen = url or settings().corpus_url
    if chosen is None:
        raise Invalid("which storage? name its URL, or set GROUNDWIRE_CORPUS_URL")
    return Remote(chosen)


def _snapshot(version: str | None) -> "Snapshot":
    from groundwire.corpus import CorpusStore

    store = CorpusStore(settings().corpus)
    if version is None:
        return store.current()
    snapshot = store.snapshot(version)
    if snapshot is None:
        raise Invalid(f"no version {version!r}: see `groundwire corpus list`")
    return snapshot


def _near(snapshot: "Snapshot", doc_id: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(doc_id, list(snapshot.documents), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
