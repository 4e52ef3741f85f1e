"""What finds and stores: documents, passages, snapshots and their index. Decides nothing."""

from contracts.query import PUBLIC

from .aside import Sieve
from .changes import Changes
from .chunking import CHUNKING_VERSION, Chunking, chunk
from .copies import copy_root
from .difference import Difference, difference
from .embedded import VectorPart, embedded_text
from .index import Index, Scoring, embed
from .ingest import DryRun, Ingestion, dry_run, grow_current, in_memory, ingest, snapshot_of
from .keywords import KeywordPart
from .lock import Busy
from .manifest import Counts, Damaged, Manifest
from .model import Aside, Document, Origin, Passage, Place, Problem
from .parts import OnProgress, Part, Progress, unheard
from .plan import Recipe
from .reading import (
    READER_VERSION,
    Listing,
    Reading,
    Source,
    SourceFile,
    list_sources,
    load_source,
    read_source,
)
from .said import SentencePart
from .search import Fields, Hits, Searcher
from .snapshot import Snapshot
from .store import CorpusStore, FixedCorpus
from .versions import Version, current_version, is_root, prune, rollback, versions

__all__ = [
    "CHUNKING_VERSION",
    "PUBLIC",
    "READER_VERSION",
    "Aside",
    "Busy",
    "Changes",
    "Chunking",
    "CorpusStore",
    "Counts",
    "Damaged",
    "Difference",
    "Document",
    "DryRun",
    "Fields",
    "FixedCorpus",
    "Hits",
    "Index",
    "Ingestion",
    "KeywordPart",
    "Listing",
    "Manifest",
    "OnProgress",
    "Origin",
    "Part",
    "Passage",
    "Place",
    "Problem",
    "Progress",
    "Reading",
    "Recipe",
    "Scoring",
    "Searcher",
    "SentencePart",
    "Sieve",
    "Snapshot",
    "Source",
    "SourceFile",
    "VectorPart",
    "Version",
    "chunk",
    "copy_root",
    "current_version",
    "difference",
    "dry_run",
    "embed",
    "embedded_text",
    "grow_current",
    "in_memory",
    "ingest",
    "is_root",
    "list_sources",
    "load_source",
    "prune",
    "read_source",
    "rollback",
    "snapshot_of",
    "unheard",
    "versions",
]
