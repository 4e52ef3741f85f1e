"""What a machine must have: an environment of our own packages, a profile that can run, a corpus that can be read."""

import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from contracts import GroundwireError
from groundwire.owners import foreign_owner
from groundwire.settings import Settings
from groundwire.tracing import fault_of, is_wanted

from .finding import Finding


def examine_machine(settings: Settings, secrets: Mapping[str, Path]) -> list[Finding]:
    """What can be checked without a server; `secrets`: the files that hold them."""
    if settings.redis_tls_key is not None:
        secrets = {**secrets, "redis_tls_key": settings.redis_tls_key}
    machine = [_python(), _packages(), _binary(), judge_secrets(secrets)]
    return [*machine, _profile(settings), _corpus(settings)]


def judge_traces(env: Mapping[str, str]) -> Finding:
    """Whether the traces that the variables ask for can be had."""
    if not is_wanted(env):
        return Finding("traces", "ok", "none wanted: OTEL_EXPORTER_OTLP_ENDPOINT isn't set")
    fault = fault_of(env)
    if fault is not None:
        cure = "do that, or take the OTEL_* variables away: until then nothing is traced"
        return Finding("traces", "error", fault, cure)
    return Finding("traces", "ok", "exported by OTLP over HTTP")


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


def judge_secrets(files: Mapping[str, Path]) -> Finding:
    """Whether others of this machine can read one of the files."""
    exposed = {name: path for name, path in files.items() if _is_open_to_all(path)}
    if not exposed:
        named = ", ".join(files)
        return Finding("secrets", "ok", f"in files: {named}" if files else "none in files")
    said = "; ".join(f"{name}: {path}" for name, path in exposed.items())
    paths = " ".join(str(path) for path in dict.fromkeys(exposed.values()))
    return Finding(
        "secrets", "warning", f"every user of this machine can read {said}", f"chmod o= {paths}"
    )


def _is_open_to_all(path: Path) -> bool:
    """Whether the file's mode, and that of every folder above it, lets others through."""
    try:
        file = path.resolve(strict=True)
        above = all(folder.stat().st_mode & stat.S_IXOTH for folder in file.parents)
        return above and bool(file.stat().st_mode & stat.S_IROTH)
    except OSError:  # out of our own reach, too
        return False


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
