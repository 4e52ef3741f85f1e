"""The checks of `groundwire doctor`: each says what it found, and what to do if that is bad."""

import sys
from dataclasses import dataclass
from typing import Any, Literal

from bus.wire import UrlBackend, Wire
from contracts import GroundwireError, NoSystem
from groundwire.client import system_url
from groundwire.settings import Settings

MIN_REDIS = (6, 2)
MIN_VALKEY = (7, 2)


@dataclass(frozen=True)
class Finding:
    """One check: whether it is fine, what was found, and the cure if it is not."""

    check: str
    level: Literal["ok", "warning", "error"]
    what: str
    cure: str = ""


async def examine(settings: Settings) -> list[Finding]:
    """All checks; none of them changes anything."""
    findings = [_python(), _binary(), _profile(settings), _corpus(settings)]
    try:
        url = await system_url(settings)
    except NoSystem as error:
        return [*findings, Finding("server", "warning", str(error))]
    return findings + await _server(url)


def _python() -> Finding:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Finding("python", "ok", version)


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
    store = CorpusStore(settings.corpus)
    try:
        version = store.current_version()
        snapshot = store.snapshot(version)
    except GroundwireError as error:
        return Finding("corpus", "error", str(error), "ingest the documents again")
    if snapshot is None:
        return Finding("corpus", "error", f"snapshot {version} is missing", "ingest again")
    return Finding(
        "corpus",
        "ok",
        f"{version}: {snapshot.counts.documents} documents, {snapshot.counts.passages} passages",
    )


async def _server(url: str) -> list[Finding]:
    wire = Wire(UrlBackend(url), timeout_s=5.0)
    try:
        info = _info(await wire.call("INFO"))
    except GroundwireError as error:
        cure = "is it running, and are user and password right?"
        return [Finding("server", "error", str(error), cure)]
    finally:
        await wire.close()
    return [_version(info), _eviction(info), _persistence(info)]


def _version(info: dict[str, str]) -> Finding:
    name = info.get("server_name", "redis")
    version = info.get(f"{name}_version", info["redis_version"])
    least = MIN_VALKEY if name == "valkey" else MIN_REDIS
    if tuple(int(part) for part in version.split(".")[:2]) < least:
        wanted = ".".join(map(str, least))
        return Finding("server", "error", f"{name} {version}", f"use {name} {wanted} or newer")
    return Finding("server", "ok", f"{name} {version}")


def _eviction(info: dict[str, str]) -> Finding:
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        return Finding(
            "memory",
            "error",
            f"maxmemory-policy {policy}: a full server would delete queries",
            "CONFIG SET maxmemory-policy noeviction",
        )
    return Finding("memory", "ok", f"{info.get('used_memory_human', '?')} used, {policy}")


def _persistence(info: dict[str, str]) -> Finding:
    if info.get("aof_enabled") != "1":
        return Finding(
            "persistence",
            "warning",
            "append-only file is off: a restart of the server loses open queries",
            "CONFIG SET appendonly yes",
        )
    return Finding("persistence", "ok", "append-only file is on")


def _info(reply: Any) -> dict[str, str]:
    if isinstance(reply, dict):
        return {str(name): str(value) for name, value in reply.items()}
    text = reply.decode() if isinstance(reply, bytes) else str(reply)
    lines = (line.partition(":") for line in text.splitlines() if ":" in line)
    return {name: value.strip() for name, _, value in lines}
