"""What a machine must have: an environment of our own packages, a profile that can run, a corpus that can be read."""

import sys

from contracts import GroundwireError
from groundwire.owners import foreign_owner
from groundwire.settings import Settings

from .finding import Finding


def examine_machine(settings: Settings) -> list[Finding]:
    """What can be checked without a server."""
    return [_python(), _packages(), _binary(), _profile(settings), _corpus(settings)]


def _python() -> Finding:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Finding("python", "ok", version)


def _packages() -> Finding:
    stranger = foreign_owner()
    if stranger is not None:
        return Finding("packages", "error", stranger)
    return Finding("packages", "ok", "agents, bus and contracts are ours")


def _binary() -> Finding:
    from groundwire.embedded.binary import find_binary

    try:
        return Finding("binary", "ok", str(find_binary()))
    except GroundwireError as error:
        return Finding("binary", "warning", "no server program found", str(error))


def _profile(settings: Settings) -> Finding:
    from groundwire.wiring import endpoint_of, load_profile, stand_in

    try:
        note, used = stand_in(settings.profile), load_profile(settings.profile)
    except GroundwireError as error:
        return Finding(
            "profile", "error", str(error), "set GROUNDWIRE_PROFILE to one that there is"
        )
    if note is not None:
        return Finding("profile", "warning", note, "install groundwire[vectors]")
    if used.retrieve.embedder == "http" and endpoint_of(settings) is None:
        return Finding(
            "profile",
            "error",
            f"{used.name}, embedder http, and no endpoint is set",
            "set GROUNDWIRE_EMBEDDINGS_URL and GROUNDWIRE_EMBEDDINGS_MODEL",
        )
    return Finding("profile", "ok", f"{used.name}, embedder {used.retrieve.embedder}")


def _corpus(settings: Settings) -> Finding:
    from groundwire.corpus import CorpusStore, is_root

    if not is_root(settings.corpus):
        return Finding(
            "corpus", "warning", f"none in {settings.corpus}", "run `groundwire ingest PATH`"
        )
    cure = "ingest the documents again: `groundwire ingest PATH`"
    try:
        snapshot = CorpusStore(settings.corpus).current()
        for name in snapshot.manifest.parts:
            snapshot.part(name)  # every byte of it, against its digest
    except (GroundwireError, OSError) as error:
        return Finding("corpus", "error", str(error), cure)
    return Finding(
        "corpus",
        "ok",
        f"{snapshot.version}: {snapshot.counts.documents} documents, {snapshot.counts.passages} passages",
    )
