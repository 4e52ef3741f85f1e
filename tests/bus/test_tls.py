"""TLS: a private authority, a client's certificate, and what is said of a handshake that fails."""

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from bus_system import FAST, System, soon
from tls_front import Papers, tls_front

from bus import Tls, UrlBackend
from bus.wire import Wire
from contracts import Misconfigured, Query, Unreachable
from contracts.ids import lane_of_query
from groundwire.embedded.several import TemporaryCluster

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    """One authority for all of these tests."""
    return Papers.make(tmp_path_factory.mktemp("papers"))


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    """Another authority."""
    return Papers.make(tmp_path_factory.mktemp("strangers"))


@asynccontextmanager
async def wire_to(url: str, tls: Tls | None = None) -> AsyncIterator[Wire]:
    """One connection."""
    wire = Wire(UrlBackend(url, tls), 1.0)
    try:
        yield wire
    finally:
        await wire.close()


async def why_not(url: str, tls: Tls | None = None) -> str:
    """What is said of a connection that can't be made."""
    async with wire_to(url, tls) as wire:
        with pytest.raises(Unreachable) as refused:
            await wire.call("PING")
    assert len(str(refused.value)) < 200, "log lines are cut there"
    return str(refused.value)


async def test_a_query_is_answered_over_tls_with_certificates_on_both_sides(
    papers: Papers, server_url: str
) -> None:
    """Client, worker and its beat: every connection is encrypted, and shows its certificate."""
    tls = Tls(papers.ca, papers.cert, papers.key)
    with tls_front(server_url, papers.context(asks_clients=True)) as url:
        async with System(UrlBackend(url, tls), FAST) as system, system.running():
            query_id = await system.bus.submit(Query(text="refund?", session_id="s"))
            response = await system.bus.result(query_id, timeout_s=10.0)
    assert response.query_id == query_id


async def test_a_cluster_is_spoken_to_by_tls_at_every_node(papers: Papers) -> None:
    """Also at those that only its nodes name: they announce the ports that speak TLS, and nothing goes plain."""
    cluster = TemporaryCluster(replicas=0)
    with ExitStack() as stack:
        stack.callback(cluster.stop)
        context = papers.context()
        fronts = [stack.enter_context(tls_front(node.url, context)) for node in cluster.nodes]
        ports = [str(urlsplit(url).port) for url in fronts]
        for node, port in zip(cluster.nodes, ports, strict=True):
            assert node.ask("CONFIG", "SET", "cluster-announce-port", port) == "+OK"

        async def is_announced() -> bool:
            tables = [node.ask("CLUSTER", "NODES") for node in cluster.nodes]
            return all(f":{port}@" in table for table in tables for port in ports)

        await soon(is_announced)
        url = fronts[0].replace("rediss://", "rediss+cluster://")
        lanes = replace(FAST, lanes=4)
        async with System(UrlBackend(url, Tls(papers.ca)), lanes) as system, system.running():
            asked = [Query(text="refund?", session_id=f"s{number}") for number in range(12)]
            ids = await system.bus.submit_many(asked)
            for query_id in ids:
                await system.bus.result(query_id, timeout_s=10.0)
            assert all(lane.holds for lane in await system.bus.verify())
    assert {lane_of_query(query_id) for query_id in ids} == {0, 1, 2, 3}


async def test_a_server_signed_by_none_that_is_trusted_is_told_with_the_setting(
    papers: Papers, strangers: Papers, server_url: str
) -> None:
    """Without the authority, and with another's: what to set."""
    with tls_front(server_url, papers.context()) as url:
        assert "set GROUNDWIRE_REDIS_TLS_CA" in await why_not(url)
        assert "set GROUNDWIRE_REDIS_TLS_CA" in await why_not(url, Tls(strangers.ca))


async def test_an_expired_certificate_is_told(papers: Papers, server_url: str) -> None:
    """Its owner renews it, or somebody sets a clock right."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    expired = papers.authority.issue_cert("localhost", not_after=yesterday)
    with tls_front(server_url, papers.context(expired)) as url:
        assert "has expired" in await why_not(url, Tls(papers.ca))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_a_certificate_for_another_host_is_told(
    papers: Papers, server_url: str, host: str
) -> None:
    """The right authority alone is not enough: any of its servers could pass for this one."""
    other = papers.authority.issue_cert("elsewhere.example.org")
    with tls_front(server_url, papers.context(other)) as url:
        assert "for another host" in await why_not(url.replace("localhost", host), Tls(papers.ca))


async def test_a_missing_or_foreign_client_certificate_is_told(
    papers: Papers, strangers: Papers, server_url: str
) -> None:
    """The server's refusal comes after the handshake, with the first reply."""
    with tls_front(server_url, papers.context(asks_clients=True)) as url:
        assert "set GROUNDWIRE_REDIS_TLS_CERT" in await why_not(url, Tls(papers.ca))
        foreign = Tls(papers.ca, strangers.cert, strangers.key)
        assert "our client certificate" in await why_not(url, foreign)


async def test_tls_on_a_plain_port_and_plain_on_a_tls_port_are_told(
    papers: Papers, server_url: str
) -> None:
    """A URL with one s too many, or one too few."""
    with tls_front(server_url, None) as url:
        assert "is it the port for TLS?" in await why_not(url, Tls(papers.ca))
    with tls_front(server_url, papers.context()) as url:
        assert "rediss://" in await why_not(url.replace("rediss:", "redis:"))


@pytest.mark.parametrize("text", ["", "no certificate"])
def test_a_file_that_is_no_certificate_is_named(tmp_path: Path, papers: Papers, text: str) -> None:
    """At the start, not at the first connection."""
    broken = tmp_path / "broken.pem"
    broken.write_text(text)
    for tls in (
        Tls(broken),
        Tls(tmp_path / "gone.pem"),
        Tls(papers.ca, broken),
        Tls(key=None, cert=papers.cert),
    ):
        with pytest.raises(Misconfigured, match=r"\.pem"):
            UrlBackend("rediss://localhost", tls)


def test_an_encrypted_key_is_refused_and_not_asked_for(tmp_path: Path, papers: Papers) -> None:
    """A worker has no terminal to be asked on."""
    from cryptography.hazmat.primitives import serialization as pem

    key = pem.load_pem_private_key(papers.key.read_bytes(), None)
    locked = tmp_path / "locked.pem"
    locked.write_bytes(
        key.private_bytes(
            pem.Encoding.PEM, pem.PrivateFormat.PKCS8, pem.BestAvailableEncryption(b"secret")
        )
    )
    with pytest.raises(Misconfigured, match="unencrypted"):
        UrlBackend("rediss://localhost", Tls(papers.ca, papers.cert, locked))
