"""Connecting from Python: with a URL, or to the system of this folder."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bus import Bus, BusConfig, Log, Origin, Tls, UrlBackend, no_log
from contracts import NoSystem
from groundwire.embedded import find_system
from groundwire.settings import Settings, load_settings


def bus_config(settings: Settings) -> BusConfig:
    """The limits of the bus as the settings have them."""
    return BusConfig(
        lanes=settings.lanes,
        attempts=settings.attempts,
        deliveries=settings.deliveries,
        deadline_s=settings.deadline_s,
        lease_s=settings.lease_s,
        alive_ttl_s=settings.alive_ttl_s,
        grace_s=settings.grace_s,
        wedge_limit_s=settings.wedge_limit_s,
        result_ttl_s=settings.result_ttl_s,
        idempotency_ttl_s=settings.idempotency_ttl_s,
        durable_replicas=settings.durable_replicas,
        open_mark=settings.open_mark,
        backlog_mark=settings.backlog_mark,
        blob_bytes=settings.blob_bytes,
        max_payload_bytes=settings.max_payload_bytes,
        concurrency=settings.concurrency,
    )


def server_at(url: str, settings: Settings) -> UrlBackend:
    """The server at a URL, with the certificates that the settings name; Misconfigured if one can't be read."""
    return UrlBackend(url, tls_of(settings))


def tls_of(settings: Settings) -> Tls:
    """The certificates that the settings name."""
    return Tls(settings.redis_tls_ca, settings.redis_tls_cert, settings.redis_tls_key)


async def system_url(settings: Settings) -> str:
    """The server's URL: the one that is set, else the running system's; NoSystem says what to start."""
    if settings.redis_url is not None:
        return settings.redis_url.get_secret_value()
    running = await find_system(settings.home)
    if running is None:
        raise NoSystem(
            f"nothing is running in {settings.home}: start it with `groundwire up --docs PATH`, "
            "or set GROUNDWIRE_REDIS_URL to a server of your own"
        )
    return running.url


@asynccontextmanager
async def connect(
    url: str | None = None,
    *,
    settings: Settings | None = None,
    log: Log = no_log,
    opens_partly: bool = False,
) -> AsyncIterator[Bus]:
    """A client of the server at `url`; without one, of the system that the settings or this folder name.

    `log` is told of every query that is accepted. Where the application traces by OpenTelemetry, so does this: a
    query's trace goes on from the span that is active when it is submitted. `opens_partly`: also while the server of
    lane 0 is away, to look at the other lanes and their dead letters and results; nothing can be submitted until it
    is back.
    """
    known = settings or load_settings(os.environ, Path.cwd())
    address = url or await system_url(known)
    async with Bus(
        server_at(address, known),
        bus_config(known),
        log=log,
        origin=origin(),
        opens_partly=opens_partly,
    ) as bus:
        yield bus


def origin() -> Origin | None:
    """Who traces what this process submits: the application's OpenTelemetry, if it has loaded that; else nobody."""
    if "opentelemetry.trace" not in sys.modules:
        return None
    from groundwire.tracing.origin import ClientSpans

    return ClientSpans()
