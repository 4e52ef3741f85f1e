"""Doctor: what it says of servers, by value, and of folders."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bus import UrlBackend
from bus.facts import ServerFacts, ask_server
from bus.groups import agree_on_lanes
from bus.slots import slot_of
from bus.wire import Wire
from groundwire.doctor import Finding, examine
from groundwire.doctor.machine import judge_secrets
from groundwire.doctor.server import judge_another, judge_encryption, judge_server, judge_url
from groundwire.embedded import TemporaryServer
from groundwire.embedded.several import TemporaryCluster
from groundwire.settings import load_settings
from groundwire.wiring import Intake, ingest_corpus

HEALTHY = {
    "server_name": "valkey",
    "valkey_version": "9.1.2",
    "redis_version": "7.2.4",
    "role": "master",
    "maxmemory_policy": "noeviction",
    "aof_enabled": "1",
    "aof_last_write_status": "ok",
}


def judged(check: str, *, lanes: int | None = 1, ahead_s: float = 0.0, **info: str) -> Finding:
    """What is found by one check, on a server that is healthy but for this."""
    findings = judge_server(ServerFacts(HEALTHY | info, lanes, ahead_s), lanes=1)
    (found,) = (finding for finding in findings if finding.check == check)
    return found


def test_a_healthy_server_has_no_findings() -> None:
    """Nothing is said that need not be."""
    findings = judge_server(ServerFacts(HEALTHY, 1, 0.01), lanes=1)
    assert {finding.level for finding in findings} == {"ok"}


@pytest.mark.parametrize(
    ("check", "level", "cure", "facts"),
    [
        ("memory", "error", "noeviction", {"maxmemory_policy": "allkeys-lru"}),
        ("memory", "warning", "maxmemory", {"used_memory": "95", "maxmemory": "100"}),
        ("persistence", "warning", "appendonly yes", {"aof_enabled": "0"}),
        ("persistence", "error", "disk", {"aof_last_write_status": "err"}),
        ("server", "error", "valkey 7.2", {"valkey_version": "7.1.0"}),
        ("server", "error", "redis 6.2", {"server_name": "redis", "redis_version": "6.0.16"}),
        (
            "role",
            "error",
            "primary, a:1",
            {"role": "slave", "master_host": "a", "master_port": "1"},
        ),
        ("lanes", "error", "GROUNDWIRE_LANES=4", {"lanes": 4}),
        ("clock", "warning", "NTP", {"ahead_s": -12.0}),
    ],
)
def test_what_would_harm_is_said_with_its_cure(
    check: str, level: str, cure: str, facts: dict[str, Any]
) -> None:
    """One thing wrong is one finding, and what to do stands beside it."""
    found = judged(check, **facts)
    assert found.level == level
    assert cure in found.cure


@pytest.mark.parametrize(
    ("url", "level"),
    [
        ("redis://host", "ok"),
        ("redis://host?socket_timeout=10", "ok"),
        ("redis://host?socket_timeout=2", "error"),
        ("rediss://u:p@host/0?db=1&socket_timeout=0.5", "error"),
        ("redis://host?socket_timeout=soon", "error"),
    ],
)
def test_a_socket_timeout_below_block_is_an_error(url: str, level: str) -> None:
    """It would end every read that only waits for work."""
    assert judge_url(url, 2.0).level == level


@pytest.mark.parametrize(
    ("url", "has_certificates", "level"),
    [
        ("rediss://host", True, "ok"),
        ("rediss+cluster://host,other", True, "ok"),
        ("redis://host", True, "warning"),
        ("redis://host", False, "ok"),
        ("unix:///tmp/a.sock", False, "ok"),
    ],
)
def test_certificates_that_nothing_uses_are_a_warning(
    url: str, has_certificates: bool, level: str
) -> None:
    """One s is missing in the URL, and everything works: unencrypted."""
    assert judge_encryption(url, has_certificates=has_certificates).level == level


@pytest.mark.parametrize(
    ("info", "replicas", "level", "said"),
    [
        ({"connected_slaves": "1"}, 1, "ok", "1 replicas"),
        ({"connected_slaves": "1"}, 2, "warning", "wait for 2"),
        ({"connected_slaves": "1", "cluster_enabled": "1"}, 1, "ok", "1 replicas"),
        ({"connected_slaves": "1", "cluster_enabled": "1"}, 0, "error", "node of a cluster"),
    ],
)
def test_one_of_several_servers_needs_its_replicas(
    info: dict[str, str], replicas: int, level: str, said: str
) -> None:
    """Without them no durable submit is confirmed; a cluster's node needs a URL that says so."""
    facts = ServerFacts(HEALTHY | info, 1, 0.01)
    found = next(
        one for one in judge_server(facts, lanes=1, replicas=replicas) if one.check == "role"
    )
    assert (found.level, said in found.what) == (level, True)


@pytest.mark.server
async def test_each_node_of_a_cluster_is_judged_once(
    cluster: TemporaryCluster, tmp_path: Path
) -> None:
    """By the lane that is on it."""
    cluster.flush()
    env = {"GROUNDWIRE_REDIS_URL": cluster.url, "GROUNDWIRE_LANES": "4"}
    found = await examine(load_settings(env, tmp_path))
    roles = [one for one in found if one.check == "role"]
    on_node = {id(cluster.primary_of(slot_of(lane))): lane for lane in reversed(range(4))}
    first, *others = sorted(on_node.values())
    assert [one.level for one in roles] == ["ok"] * len(on_node)
    assert first == 0
    assert "'s: " not in roles[0].what
    assert [one.what.partition("'s: ")[0] for one in roles[1:]] == [f"lane {n}" for n in others]
    assert [one.check for one in judge_another(found, 1)].count("lanes") == 0


@pytest.mark.server
async def test_the_embedded_server_is_healthy(server: TemporaryServer) -> None:
    """What `up` starts is what doctor asks for; asking stores nothing."""
    server.flush()
    backend = UrlBackend(server.url)
    before = await ask_server(backend, timeout_s=5.0, clock=time.time)
    wire = Wire(backend, 5.0)
    await agree_on_lanes(wire, 3)
    await wire.close()
    after = await ask_server(backend, timeout_s=5.0, clock=lambda: time.time() - 60.0)
    assert (before.lanes, after.lanes) == (None, 3)
    assert after.ahead_s > 55.0
    assert {finding.level for finding in judge_server(before, lanes=1)} == {"ok"}


def test_a_secret_that_every_user_can_read_is_a_warning() -> None:
    """By the file's mode and by the folders above it: in a folder of one's own any mode is fine."""
    with TemporaryDirectory(dir="/tmp") as name:  # pytest's own folder is closed to others
        folder, file = Path(name), Path(name) / "redis-url"
        file.write_text("redis://:secret@host")
        levels = {}
        for folder_mode, mode in ((0o755, 0o644), (0o700, 0o644), (0o755, 0o640)):
            folder.chmod(folder_mode)
            file.chmod(mode)
            found = judge_secrets({"redis_url": file})
            levels[folder_mode, mode] = found.level
            assert "secret@" not in found.what
    assert levels == {(0o755, 0o644): "warning", (0o700, 0o644): "ok", (0o755, 0o640): "ok"}


async def test_a_damaged_corpus_is_an_error(tmp_path: Path) -> None:
    """Every byte is checked, those of indexes too, before a worker falls over them."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "page.md").write_text("# Harbour\n\nThe harbour opens at six.\n")
    settings = load_settings({"GROUNDWIRE_PROFILE": "fast"}, tmp_path)
    ingest_corpus(Intake([docs], settings.corpus, settings.profile))
    assert (await _corpus(settings)).level == "ok"
    keyword = next(file for file in settings.corpus.rglob("*") if file.parent.name == "keyword")
    keyword.chmod(0o644)
    keyword.write_bytes(keyword.read_bytes()[:-1])
    found = await _corpus(settings)
    assert (found.level, "damaged" in found.what) == ("error", True)
    assert "ingest" in found.cure


async def _corpus(settings: Any) -> Finding:
    return next(finding for finding in await examine(settings, {}) if finding.check == "corpus")
