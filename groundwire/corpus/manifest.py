"""What a snapshot is, in one file: its content's digest, its counts, its parts and the digests of its files.

The version names the content, never the bytes: a database or an index that was reached in steps is laid out
differently from one that was built at once, and answers the same.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from .chunking import CHUNKING_VERSION

FORMAT = 3
DATABASE, INTENTS, MANIFEST = "corpus.sqlite", "intents.toml", "manifest.json"


class Damaged(Exception):
    """The stored bytes are not what they were when the snapshot was written."""


@dataclass(frozen=True)
class Counts:
    """How much a snapshot holds. `characters` of the documents' canonical texts."""

    documents: int
    passages: int
    characters: int


@dataclass(frozen=True)
class Manifest:
    """What is true of a snapshot. `content`: digest over its sources and documents; `intents`: of that text.

    `chunking`: its fields, so that a snapshot can be read where its method isn't there any more.
    `parts`: what was built from the content, and how, so that each of them can be found and compared.
    `files`: SHA-256 by path, of every file but this one; the version doesn't depend on them.
    """

    content: str
    chunking: Mapping[str, object]
    counts: Counts
    intents: str | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    created_at: str = ""
    chunking_version: int = CHUNKING_VERSION
    format: int = FORMAT

    @property
    def version(self) -> str:
        """The name of the snapshot."""
        named = asdict(self)
        for name in ("files", "created_at"):
            del named[name]
        return hashlib.sha256(_canonical(named)).hexdigest()[:16]

    def to_bytes(self) -> bytes:
        """As it is stored: with a digest of itself."""
        value = asdict(self)
        return json.dumps({**value, "sha256": _digest(value)}, indent=1).encode()

    @classmethod
    def from_bytes(cls, data: bytes, version: str) -> "Manifest":
        """The manifest of a version; Damaged if it is another one's, or not what was written."""
        try:
            value = json.loads(data)
            written = value.pop("sha256", None)
        except (ValueError, AttributeError) as error:
            raise Damaged(MANIFEST) from error
        if value.get("format") != FORMAT:
            raise Damaged(f"{MANIFEST}, whose format {value.get('format')!r} is not {FORMAT},")
        if written != _digest(value) or {f.name for f in fields(cls)} != value.keys():
            raise Damaged(MANIFEST)
        value["counts"] = Counts(**value["counts"])
        manifest = cls(**value)
        if manifest.version != version:
            raise Damaged(MANIFEST)
        return manifest


def _digest(value: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(value)).hexdigest()


def _canonical(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
