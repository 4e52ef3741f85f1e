"""Snapshots on S3-compatible storage, on moto's server: published once, fetched and verified once a machine."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import obstore
import pytest
from moto.server import ThreadedMotoServer
from obstore.store import ObjectStore, from_url

from contracts import Misconfigured, Unreachable
from groundwire.corpus import (
    Busy,
    Chunking,
    CorpusStore,
    KeywordPart,
    Progress,
    Recipe,
    current_version,
    ingest,
)
from groundwire.corpus.lock import IngestLock
from groundwire.corpus.remote import Remote
from groundwire.wiring import following

URL = "s3://corpora/handbook"


def _silent(progress: Progress) -> None: ...


def opened() -> ObjectStore:
    return from_url(URL, client_options={"allow_http": True})


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def remote(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Remote:
    """An empty bucket, and what a process finds it by."""
    names = {"ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "y", "REGION": "us-east-1"}
    for name, value in (names | {"ENDPOINT_URL": endpoint}).items():
        monkeypatch.setenv(f"AWS_{name}", value)
    urlopen(Request(f"{endpoint}/corpora", method="PUT")).close()
    store = opened()
    for objects in obstore.list(store):
        obstore.delete(store, [each["path"] for each in objects])
    return Remote(URL)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The root of the machine that ingests."""
    (tmp_path / "docs").mkdir()
    take(tmp_path / "here", "One.")
    return tmp_path / "here"


def take(root: Path, text: str) -> str:
    docs = root.parent / "docs"
    (docs / "a.md").write_text(text)
    (docs / "b.md").write_text("Another page.")
    return ingest(
        [docs], root, Recipe(Chunking(), "version = 1", parts=(KeywordPart(least_passages=0),))
    ).version


def test_what_is_published_is_fetched_whole(remote: Remote, here: Path, tmp_path: Path) -> None:
    """Documents, intents and parts; a second fetch brings nothing."""
    version = remote.publish(here, _silent)
    there = tmp_path / "there"
    assert remote.fetch(there, _silent) == version == current_version(there)
    assert remote.fetch(there, _silent) is None
    fetched, own = CorpusStore(there).current(), CorpusStore(here).current()
    assert list(fetched.documents.stream()) == list(own.documents.stream())
    assert (fetched.intents, fetched.part("keyword") is not None) == ("version = 1", True)


def test_the_pointer_is_followed_forth_and_back(remote: Remote, here: Path, tmp_path: Path) -> None:
    """A version that a machine has already isn't fetched again."""
    first = remote.publish(here, _silent)
    there = tmp_path / "there"
    remote.fetch(there, _silent)
    second = take(here, "Two.")
    remote.publish(here, _silent)
    assert remote.fetch(there, _silent) == second
    take(here, "One.")
    remote.publish(here, _silent)
    told: list[Progress] = []
    assert remote.fetch(there, told.append) == first
    assert told == []


def test_a_damaged_object_is_refused_and_the_old_version_answers(
    remote: Remote, here: Path, tmp_path: Path
) -> None:
    """One flipped bit in storage never reaches an answer."""
    there = tmp_path / "there"
    first = remote.publish(here, _silent)
    remote.fetch(there, _silent)
    second = take(here, "Two.")
    remote.publish(here, _silent)
    store = opened()
    key = f"snapshots/{second}/corpus.sqlite"
    data = bytearray(bytes(obstore.get(store, key).bytes()))
    data[len(data) // 2] ^= 1
    obstore.put(store, key, bytes(data))
    with pytest.raises(Misconfigured, match=r"is damaged: corpus\.sqlite"):
        remote.fetch(there, _silent)
    assert current_version(there) == first
    assert [path.name for path in (there / "snapshots").iterdir()] == [first]
    obstore.delete(store, key)
    with pytest.raises(Misconfigured, match="is damaged"):
        remote.fetch(there, _silent)


def test_one_process_of_a_machine_fetches(remote: Remote, here: Path, tmp_path: Path) -> None:
    """The others are told that it is being done."""
    version = remote.publish(here, _silent)
    there = tmp_path / "there"
    with IngestLock(there), pytest.raises(Busy):
        remote.fetch(there, _silent)
    assert remote.fetch(there, _silent) == version


def test_storage_that_holds_nothing_or_is_not_there_says_so(
    remote: Remote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing here is touched by it."""
    with pytest.raises(
        Misconfigured, match=r"nothing has been published.*groundwire corpus publish"
    ):
        remote.fetch(tmp_path / "there", _silent)
    with pytest.raises(Misconfigured, match=r"nothing has been ingested.*groundwire ingest"):
        remote.publish(tmp_path / "there", _silent)
    with pytest.raises(Unreachable, match="s3://elsewhere"):
        Remote("s3://elsewhere/x").publish(_root(tmp_path), _silent)
    assert not (tmp_path / "there").exists()


def _root(folder: Path) -> Path:
    (folder / "docs").mkdir()
    take(folder / "root", "One.")
    return folder / "root"


async def test_a_worker_follows_what_is_published(
    remote: Remote, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It needs no command on its machine, and no restart."""
    monkeypatch.setattr("groundwire.wiring.workers.FOLLOW_S", 0.01)
    fetched: asyncio.Queue[object] = asyncio.Queue()

    def log(event: str, /, **fields: object) -> None:
        if event == "corpus.fetched":
            fetched.put_nowait(fields["version"])

    there = tmp_path / "there"
    async with following(URL, there, log), asyncio.timeout(30):
        for text in ("One.", "Two."):
            version = take(here, text)
            await asyncio.to_thread(remote.publish, here, _silent)
            assert await fetched.get() == version == current_version(there)
