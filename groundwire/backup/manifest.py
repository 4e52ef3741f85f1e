"""What a backup is, in one file: when and of what it was made, and the digest of every other file."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from contracts import Misconfigured
from groundwire.files import digest_of

__all__ = ["DUMP", "MANIFEST", "Manifest", "check", "digests_of", "read"]

FORMAT = 1
MANIFEST = "manifest.json"
DUMP = "server/dump.rdb"


@dataclass(frozen=True)
class Manifest:
    """`server`: its name and version; `corpus`: the version that was current; each None where it isn't in here.

    `files`: SHA-256 by path, of every file but this one.
    """

    created_at: str
    groundwire: str
    server: str | None
    corpus: str | None
    files: Mapping[str, str]
    format: int = FORMAT

    def to_bytes(self) -> bytes:
        """As it is stored: with a digest of itself."""
        value = asdict(self)
        return json.dumps({**value, "sha256": _digest(value)}, indent=1).encode() + b"\n"


def read(folder: Path) -> Manifest:
    """The manifest of a backup; Misconfigured if there is none that can be read."""
    try:
        value = json.loads((folder / MANIFEST).read_bytes())
        written = value.pop("sha256", None)
    except FileNotFoundError as error:
        raise Misconfigured(f"{folder} is no backup: it has no {MANIFEST}") from error
    except (OSError, ValueError, AttributeError) as error:
        raise Misconfigured(f"{folder}: {MANIFEST} can't be read: {error}") from error
    if value.get("format") != FORMAT:
        raise Misconfigured(
            f"{folder}: a backup of format {value.get('format')!r}, not {FORMAT}: restore it with version "
            f"{value.get('groundwire')} of Groundwire, which made it"
        )
    if written != _digest(value) or value.keys() != {one.name for one in fields(Manifest)}:
        raise Misconfigured(f"{folder}: {MANIFEST} is not what was written: take another backup")
    return Manifest(**value)


def check(folder: Path, manifest: Manifest) -> None:
    """Every file against its digest; Misconfigured names those that are missing or different."""
    found = digests_of(folder)
    wrong = [name for name, digest in manifest.files.items() if found.get(name) != digest]
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise Misconfigured(
            f"{folder} is damaged: {wrong[0]}{more} not as written; nothing is done: take another backup"
        )


def digests_of(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file below a folder, its manifest apart."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name != MANIFEST:
            found[name] = digest_of(path)
    return found


def _digest(value: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
