"""Snapshots on S3-compatible storage: published once, fetched and verified once by each machine, served from its disk.

The layout is that of a root: `snapshots/<version>/…`, then `current`, which names one that is complete.
"""

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from contracts import Misconfigured, Unreachable
from groundwire.files import digest_of, sync

from .lock import IngestLock
from .manifest import MANIFEST, Damaged, Manifest
from .parts import OnProgress, Progress
from .staging import publish, staging
from .versions import (
    CURRENT,
    SNAPSHOTS,
    check,
    current_version,
    damaged_version,
    folder_of,
    ingested_version,
    sweep,
    switch,
)

if TYPE_CHECKING:
    from obstore.store import ObjectStore

CHUNK_BYTES = 8 * 1024 * 1024


class Remote:
    """A place for snapshots by its URL, like `s3://bucket/corpus`. Credentials are those of the environment (AWS_…)."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._store = _open(url)

    def publish(self, root: Path, on_progress: OnProgress) -> str:
        """Upload the current version of a root, verified first, and make it current there; which one."""
        version = ingested_version(root)
        try:
            manifest = check(root, version)
        except (OSError, Damaged) as error:
            raise damaged_version(root, version, error) from error
        files = [*manifest.files, MANIFEST]  # the manifest last: without it there is no snapshot
        for done, name in enumerate(files, start=1):
            self._put(f"{SNAPSHOTS}/{version}/{name}", folder_of(root, version) / name)
            on_progress(Progress("publishing", done, len(files)))
        self._put(CURRENT, f"{version}\n".encode())
        return version

    def current(self) -> str:
        """The version that is current there; Misconfigured if nothing was published yet."""
        found = self._get(CURRENT)
        version = "" if found is None else found.decode(errors="replace").strip()
        if not version.isalnum():
            raise Misconfigured(
                f"{self.url}: nothing has been published there; `groundwire corpus publish` does"
            )
        return version

    def fetch(self, root: Path, on_progress: OnProgress) -> str | None:
        """Bring the version that is current there, and make it current here; None if it was already.

        Busy if another process of this machine is doing so. Every file is verified before the switch.
        """
        version = self.current()
        if version == current_version(root):
            return None
        with IngestLock(root):
            sweep(root)
            if version == current_version(root):  # the other process was doing just that
                return None
            if not _has(root, version):
                self._download(root, version, on_progress)
            switch(root, version)
        return version

    def _download(self, root: Path, version: str, on_progress: OnProgress) -> None:
        where = f"{SNAPSHOTS}/{version}"
        try:
            manifest = Manifest.from_bytes(self._get(f"{where}/{MANIFEST}") or b"", version)
            with staging(root) as staged:
                for done, (name, sha256) in enumerate(manifest.files.items(), start=1):
                    if not _is_below(name):
                        raise Damaged(MANIFEST)
                    self._load(f"{where}/{name}", staged / name)
                    if digest_of(staged / name) != sha256:
                        raise Damaged(name)
                    on_progress(Progress("fetching", done, len(manifest.files)))
                publish(root, staged, manifest)
        except Damaged as error:
            raise Misconfigured(
                f"{self.url}: version {version} is damaged: {error}; publish it again"
            ) from error

    def _put(self, key: str, data: Path | bytes) -> None:
        try:
            self._store.put(key, data)
        except _errors() as error:
            raise self._unreachable(key, error) from error

    def _get(self, key: str) -> bytes | None:
        try:
            return bytes(self._store.get(key).bytes())
        except FileNotFoundError:
            return None
        except _errors() as error:
            raise self._unreachable(key, error) from error

    def _load(self, key: str, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("wb") as file:
                for chunk in self._store.get(key).stream(min_chunk_size=CHUNK_BYTES):
                    file.write(chunk)
        except FileNotFoundError as error:
            raise Damaged(key) from error
        except _errors() as error:
            raise self._unreachable(key, error) from error
        sync(path)

    def _unreachable(self, key: str, error: Exception) -> Unreachable:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Unreachable(f"{self.url}: {key}: {reason[:200]}")


def _open(url: str) -> "ObjectStore":
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError as error:
        raise Misconfigured(f"{url} needs obstore: install groundwire[s3]") from error
    options: dict[str, Any] = {"client_options": {"allow_http": True}} if _is_s3(url) else {}
    try:
        return from_url(url, **options)
    except (BaseError, ValueError, TypeError) as error:
        raise Misconfigured(f"{url}: is not storage that can be opened: {error}") from error


def _is_s3(url: str) -> bool:
    return url.startswith(("s3://", "s3a://"))


def _errors() -> tuple[type[Exception], ...]:
    from obstore.exceptions import BaseError

    return (BaseError, OSError)


def _has(root: Path, version: str) -> bool:
    try:
        check(root, version)
    except (OSError, Damaged):
        return False
    return True


def _is_below(name: str) -> bool:
    """Whether a file's name stays in its snapshot: the manifest came from elsewhere."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and name != MANIFEST
