"""What a server must be, judged by value: what it said of itself, and the URL that leads to it."""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

from bus.facts import ServerFacts

from .finding import Finding

MIN_REDIS = (6, 2)
MIN_VALKEY = (7, 2)
SKEW_S = 1.0
ALMOST_FULL = 0.9


def judge_server(facts: ServerFacts, *, lanes: int, replicas: int = 0) -> list[Finding]:
    """Everything about a server that answers; `replicas`: how many a durable submit waits for."""
    info = facts.info
    return [
        _version(info),
        _role(info, replicas),
        _eviction(info),
        _persistence(info),
        _lanes(facts.lanes, lanes),
        _clock(facts.ahead_s),
    ]


def judge_another(findings: list[Finding], lane: int) -> list[Finding]:
    """What was found about a lane's server that isn't the first: said of which, and what concerns it alone."""
    return [
        replace(one, what=f"lane {lane}'s: {one.what}") for one in findings if one.check != "lanes"
    ]


def judge_url(url: str, block_s: float) -> Finding:
    """A socket timeout in a URL is the driver's, and ends a blocking read that is only waiting."""
    query = parse_qs(urlsplit(url).query)
    timeout = query.get("socket_timeout", [""])[0]
    if not timeout:
        return Finding("connection", "ok", f"reads wait up to {block_s:g} s")
    try:
        ends_early = float(timeout) <= block_s
    except ValueError:
        ends_early = True
    if not ends_early:
        return Finding("connection", "ok", f"reads wait up to {block_s:g} s of {timeout} s")
    return Finding(
        "connection",
        "error",
        f"socket_timeout={timeout} in the server's URL: reads that wait up to {block_s:g} s fail",
        "take socket_timeout out of the URL: each command has a time limit of its own",
    )


def judge_encryption(url: str, *, has_certificates: bool) -> Finding:
    """Whether what certificates are set for is what the URL does."""
    parts = urlsplit(url)
    if parts.scheme.partition("+")[0] == "rediss":
        return Finding("encryption", "ok", "TLS, certificate and host name checked")
    if has_certificates:
        return Finding(
            "encryption",
            "warning",
            f"certificates are set, but the URL begins with {parts.scheme}://: nothing is encrypted",
            "rediss:// and the port for TLS",
        )
    where = "stays on this machine" if parts.scheme == "unix" else f"none to {parts.hostname}"
    return Finding("encryption", "ok", where)


def _version(info: Mapping[str, str]) -> Finding:
    name = info.get("server_name", "redis")
    version = info.get(f"{name}_version", info.get("redis_version", "0"))
    least = MIN_VALKEY if name == "valkey" else MIN_REDIS
    if tuple(int(part) for part in version.split(".")[:2]) < least:
        wanted = ".".join(map(str, least))
        return Finding("server", "error", f"{name} {version}", f"use {name} {wanted} or newer")
    return Finding("server", "ok", f"{name} {version}")


def _role(info: Mapping[str, str], replicas: int) -> Finding:
    if info.get("role") == "slave":
        return Finding(
            "role",
            "error",
            "this is a replica: it refuses every write",
            f"connect to its primary, {info.get('master_host', '?')}:{info.get('master_port', '?')}",
        )
    if info.get("cluster_enabled") == "1" and not replicas:
        return Finding(
            "role",
            "error",
            "this is a node of a cluster: it has some of the lanes alone",
            "begin the server's URL with redis+cluster://",
        )
    found = int(info.get("connected_slaves", "0"))
    if found < replicas:
        return Finding(
            "role",
            "warning",
            f"primary, {found} replicas: durable submits wait for {replicas}, and aren't confirmed",
            "start its replicas, or set GROUNDWIRE_DURABLE_REPLICAS to what it has",
        )
    return Finding("role", "ok", f"primary, {found} replicas")


def _eviction(info: Mapping[str, str]) -> Finding:
    policy = info.get("maxmemory_policy", "noeviction")
    used, most = int(info.get("used_memory", 0)), int(info.get("maxmemory", 0))
    shown = f"{info.get('used_memory_human', '?')} used"
    if policy != "noeviction":
        return Finding(
            "memory",
            "error",
            f"maxmemory-policy {policy}: a full server would delete queries",
            "CONFIG SET maxmemory-policy noeviction",
        )
    if most and used > ALMOST_FULL * most:
        return Finding(
            "memory",
            "warning",
            f"{shown} of {info.get('maxmemory_human', '?')}: a full server refuses queries",
            "CONFIG SET maxmemory to more, or keep fewer results",
        )
    return Finding("memory", "ok", f"{shown}, {policy}")


def _persistence(info: Mapping[str, str]) -> Finding:
    if info.get("aof_enabled") != "1":
        return Finding(
            "persistence",
            "warning",
            "append-only file is off: a restart of the server loses open queries",
            "CONFIG SET appendonly yes",
        )
    if info.get("aof_last_write_status", "ok") != "ok":
        return Finding(
            "persistence",
            "error",
            "the last write to the append-only file failed: what is accepted now may be lost",
            "is the server's disk full? its log says why",
        )
    return Finding("persistence", "ok", "append-only file is on")


def _lanes(stored: int | None, wanted: int) -> Finding:
    if stored is not None and stored != wanted:
        return Finding(
            "lanes",
            "error",
            f"the server was started with {stored}, this process is set to {wanted}: it won't start",
            f"set GROUNDWIRE_LANES={stored}",
        )
    return Finding("lanes", "ok", f"{wanted}" if stored else f"{wanted}, once a worker has started")


def _clock(ahead_s: float) -> Finding:
    if abs(ahead_s) > SKEW_S:
        way = "ahead of" if ahead_s > 0 else "behind"
        return Finding(
            "clock",
            "warning",
            f"the server's is {abs(ahead_s):.1f} s {way} this machine's: deadlines go by the "
            "server's, log lines by this one's",
            "keep both by NTP",
        )
    return Finding("clock", "ok", f"{abs(ahead_s) * 1000:.0f} ms from the server's")
