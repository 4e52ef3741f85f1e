"""What finds and stores: documents, passages, snapshots and their index. Decides nothing."""

from .chunking import CHUNKING_VERSION, Chunking, chunk
from .index import Index, Scoring, embed
from .ingest import Ingestion, in_memory, ingest
from .model import PUBLIC, Document, Origin, Passage, Place, Problem
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
from .search import Fields, Hits, Searcher
from .snapshot import Snapshot
from .store import CorpusStore, FixedCorpus, is_root

__all__ = [
    "CHUNKING_VERSION",
    "PUBLIC",
    "READER_VERSION",
    "Chunking",
    "CorpusStore",
    "Document",
    "Fields",
    "FixedCorpus",
    "Hits",
    "Index",
    "Ingestion",
    "Listing",
    "Origin",
    "Passage",
    "Place",
    "Problem",
    "Reading",
    "Scoring",
    "Searcher",
    "Snapshot",
    "Source",
    "SourceFile",
    "chunk",
    "embed",
    "in_memory",
    "ingest",
    "is_root",
    "list_sources",
    "load_source",
    "read_source",
]
