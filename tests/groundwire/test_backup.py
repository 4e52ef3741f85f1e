"""A backup of a running system, and the system that comes back from it."""

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from bus_system import FAST, STAGES, System, query, url_backend

from contracts import Invalid, Misconfigured
from groundwire.backup import make_backup, restore_backup
from groundwire.corpus import CorpusStore
from groundwire.embedded import SystemLock, SystemState, TemporaryServer
from groundwire.settings import Settings, load_settings
from groundwire.wiring import Intake, ingest_corpus

pytestmark = pytest.mark.server


def settings_of(folder: Path) -> Settings:
    """Those of a folder."""
    return load_settings({"GROUNDWIRE_PROFILE": "fast"}, folder)


def ingest(settings: Settings, text: str) -> None:
    """Make one page the corpus."""
    docs = settings.home.parent / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "page.md").write_text(text)
    ingest_corpus(Intake([docs], settings.corpus, settings.profile))


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[System]:
    """A server of a home as `up` publishes it, and a client."""
    lock = await SystemLock.acquire(settings.home)
    assert lock is not None
    server = TemporaryServer(settings.home)
    try:
        with lock:
            lock.publish(SystemState("unix://", url_file=str(server.url_file)))
            async with System(url_backend(server.url), FAST) as system:
                yield system
    finally:
        server.stop()


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Where the system was, and where it comes back."""
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    after.mkdir()
    return before, after


async def test_what_a_backup_under_load_holds_comes_back_and_open_queries_are_answered(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    """All that was accepted before it, and not yet answered, gets one result; the law holds; the corpus is of then."""
    settings, restored = map(settings_of, folders)
    ingest(settings, "# Harbour\n\nThe harbour opens at six.\n")
    asked: list[str] = []
    async with running(settings) as system, system.running(*STAGES[:-1]):
        known = await system.bus.submit_many([query("why?") for _ in range(200)])

        async def load() -> None:
            while True:
                asked.extend(await system.bus.submit_many([query("why?") for _ in range(8)]))
                await asyncio.sleep(0.002)

        loading = asyncio.create_task(load())
        manifest = await make_backup(settings, tmp_path / "saved")
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)
        async with system.running("format"):
            await system.settled()
    ingest(settings, "# Harbour\n\nThe harbour opens at seven.\n")
    found = await restore_backup(restored, tmp_path / "saved")
    assert found.manifest == manifest
    async with running(restored) as system, system.running():
        verified = await system.settled()
        entries = await system.bus.trace(known[-1])
        results = Counter(await _answered(system, verified.accepted))
    assert verified.holds
    assert set(results.values()) == {1}
    assert set(known) <= set(results) <= {*known, *asked}
    assert len(entries) == 5
    store = CorpusStore(restored.corpus)
    assert store.current_version() == manifest.corpus
    assert "at six" in next(iter(store.current().documents.values())).text


async def _answered(system: System, count: int) -> list[str]:
    found = []
    async for result in system.bus.results("all", after="0"):
        found.append(result.response.query_id)
        if len(found) == count:
            break
    return found


async def test_a_backup_overwrites_nothing_and_leaves_nothing_half_done(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    """A folder that is there is refused; one that couldn't be finished is gone."""
    settings = settings_of(folders[0])
    (tmp_path / "there").mkdir()
    with pytest.raises(Invalid, match="overwrites nothing: name another folder"):
        await make_backup(settings, tmp_path / "there")
    settings.corpus.mkdir(parents=True)
    (settings.corpus / "current").write_text("0123\n")
    (settings.corpus / "snapshots").mkdir()
    with pytest.raises(Misconfigured, match="damaged"):
        await make_backup(settings, tmp_path / "saved", with_server=False)
    assert {path.name for path in tmp_path.glob("*")} == {"after", "before", "there"}  # noqa: ASYNC240


async def test_a_restore_checks_every_file_and_overwrites_nothing(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    """A damaged backup, data or a corpus that are there: refused, and nothing is touched."""
    settings, restored = map(settings_of, folders)
    saved = tmp_path / "saved"
    ingest(settings, "# Harbour\n\nThe harbour opens at six.\n")
    async with running(settings):
        await make_backup(settings, saved)
        with pytest.raises(Invalid, match="stop it first"):
            await restore_backup(settings, saved)
    with pytest.raises(Invalid, match="holds data"):
        await restore_backup(settings, saved)
    shutil.rmtree(settings.home / "server")
    with pytest.raises(Invalid, match="corpus exists"):
        await restore_backup(settings, saved)
    dump = saved / "server" / "dump.rdb"
    dump.write_bytes(dump.read_bytes()[:-1])
    with pytest.raises(Misconfigured, match=r"damaged: server/dump\.rdb .*take another backup"):
        await restore_backup(restored, saved)
    with pytest.raises(Misconfigured, match="is no backup"):
        await restore_backup(restored, tmp_path)
    manifest = saved / "manifest.json"
    newer = json.loads(manifest.read_text()) | {"format": 2, "groundwire": "9.8.7"}
    manifest.write_text(json.dumps(newer))
    with pytest.raises(Misconfigured, match=r"format 2, not 1: restore it with version 9\.8\.7"):
        await restore_backup(restored, saved)
    manifest.write_text(json.dumps(newer | {"format": 1}))
    with pytest.raises(Misconfigured, match="not what was written: take another backup"):
        await restore_backup(restored, saved)
    assert not restored.home.exists()


async def test_settings_are_kept_without_secrets_and_compared_at_the_restore(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    """What is different now is named; nothing of it is put back by itself."""
    before, after = folders
    variables = {"GROUNDWIRE_EMBEDDINGS_KEY": "s3cret", "GROUNDWIRE_CONCURRENCY": "3"}
    await make_backup(load_settings(variables, before), tmp_path / "saved", with_server=False)
    kept = (tmp_path / "saved" / "settings.toml").read_text()
    assert kept == "concurrency = 3\n"
    found = await restore_backup(settings_of(after), tmp_path / "saved")
    assert found.differences == ("concurrency", "profile")
    assert (tmp_path / "saved").stat().st_mode & 0o077 == 0
