"""One version of a corpus: a value, its bytes, and its name, which is the digest of the bytes."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

from .chunking import Chunking
from .model import Document, Origin, Passage

FORMAT = 2
DOCUMENTS, PASSAGES, INTENTS, MANIFEST = (
    "documents.jsonl",
    "passages.jsonl",
    "intents.toml",
    "manifest.json",
)

_STORED = frozenset(field.name for field in fields(Document)) - {"passages"}


class Damaged(Exception):
    """The stored bytes are not what they were when the snapshot was written."""


@dataclass(frozen=True)
class Snapshot:
    """An immutable corpus. `intents`: the text of the intents file that belongs to it."""

    version: str
    documents: Mapping[str, Document]
    intents: str | None

    @cached_property
    def passages(self) -> tuple[tuple[Document, Passage], ...]:
        """Every passage beside its document, in stored order."""
        return tuple(
            (document, passage)
            for document in self.documents.values()
            for passage in document.passages
        )

    @cached_property
    def labels(self) -> frozenset[str]:
        """Every label that a document carries."""
        return frozenset(label for document in self.documents.values() for label in document.labels)


def build(
    documents: Iterable[Document], chunking: Chunking, intents: str | None = None
) -> tuple[Snapshot, dict[str, bytes]]:
    """A snapshot and its files: the same documents always give the same bytes and version."""
    by_id = {document.doc_id: document for document in documents}
    files = {
        DOCUMENTS: b"".join(_document_line(document) for document in by_id.values()),
        PASSAGES: b"".join(_passage_lines(document) for document in by_id.values()),
    }
    if intents is not None:
        files[INTENTS] = intents.encode()
    manifest = {
        "format": FORMAT,
        "chunking": asdict(chunking),
        "documents": len(by_id),
        "passages": sum(len(document.passages) for document in by_id.values()),
        "characters": sum(len(document.text) for document in by_id.values()),
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
    }
    files[MANIFEST] = json.dumps(manifest, indent=1, sort_keys=True).encode()
    return Snapshot(version_of(files[MANIFEST]), by_id, intents), files


def parse(version: str, files: Mapping[str, bytes]) -> Snapshot:
    """The snapshot of these files; Damaged names the first file that isn't what it was."""
    if version_of(files[MANIFEST]) != version:
        raise Damaged(MANIFEST)
    for name, expected in json.loads(files[MANIFEST])["sha256"].items():
        if name not in files or hashlib.sha256(files[name]).hexdigest() != expected:
            raise Damaged(name)
    passages: dict[str, list[Passage]] = {}
    for line in files[PASSAGES].splitlines():
        value = json.loads(line)
        passages.setdefault(value.pop("doc_id"), []).append(_passage(value))
    documents = {}
    for line in files[DOCUMENTS].splitlines():
        document = _document(json.loads(line), passages)
        documents[document.doc_id] = document
    intents = files[INTENTS].decode() if INTENTS in files else None
    return Snapshot(version, documents, intents)


def version_of(manifest: bytes) -> str:
    """The name of a snapshot: a digest of its manifest, which holds the digests of its files."""
    return hashlib.sha256(manifest).hexdigest()[:16]


def _document(value: dict[str, Any], passages: Mapping[str, list[Passage]]) -> Document:
    labels, origin = tuple(value.pop("labels")), value.pop("origin", None)
    if origin is not None:
        origin = Origin(origin["unit"], tuple(origin["starts"]), tuple(origin["numbers"]))
    own = tuple(passages.get(value["doc_id"], ()))
    return Document(**value, labels=labels, origin=origin, passages=own)


def _passage(value: dict[str, Any]) -> Passage:
    path, context = tuple(value.pop("heading_path")), value.pop("context", None)
    return Passage(**value, heading_path=path, context=tuple(context) if context else None)


def _document_line(document: Document) -> bytes:
    stored = {name: value for name, value in vars(document).items() if name in _STORED}
    return _line({**stored, "origin": document.origin and asdict(document.origin)})


def _passage_lines(document: Document) -> bytes:
    return b"".join(
        _line({"doc_id": document.doc_id, **asdict(passage)}) for passage in document.passages
    )


def _line(value: dict[str, object]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
