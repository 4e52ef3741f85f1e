"""The checks of `groundwire doctor`: each says what it found, and what to do if that is bad."""

import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from bus.facts import ask_server
from contracts import GroundwireError, NoSystem
from groundwire.client import bus_config, server_at, system_url
from groundwire.settings import Settings

from .finding import Finding
from .machine import examine_machine, judge_traces
from .server import judge_another, judge_encryption, judge_server, judge_url

__all__ = ["Finding", "examine", "judge_traces"]

REPLY_S = 5.0


_NONE: Mapping[str, Path] = MappingProxyType({})


async def examine(settings: Settings, secrets: Mapping[str, Path] = _NONE) -> list[Finding]:
    """All checks; none of them changes anything. `secrets`: the files that they are read from."""
    findings = examine_machine(settings, secrets)
    try:
        url = await system_url(settings)
    except NoSystem as error:
        return [*findings, Finding("server", "warning", str(error))]
    has_certificates = bool(settings.redis_tls_ca or settings.redis_tls_cert)
    return [
        *findings,
        judge_url(url, bus_config(settings).block_s),
        judge_encryption(url, has_certificates=has_certificates),
        *await _server(url, settings),
    ]


async def _server(url: str, settings: Settings) -> list[Finding]:
    findings: list[Finding] = []
    judged: set[str] = set()
    backend = server_at(url, settings)
    for lane in range(settings.lanes):
        try:
            facts = await ask_server(backend, timeout_s=REPLY_S, clock=time.time, lane=lane)
        except GroundwireError as error:
            cure = "is it running, are user and password right, are they the operator's?"
            what = f"lane {lane}'s: {error}" if settings.lanes > 1 else str(error)
            findings.append(Finding("server", "error", what, cure))
            continue
        name = facts.info.get("run_id", "")
        if name not in judged:
            wanted = settings.durable_replicas if backend.is_replicated else 0
            found = judge_server(facts, lanes=settings.lanes, replicas=wanted)
            findings += found if lane == 0 else judge_another(found, lane)
            judged.add(name)
    return findings
