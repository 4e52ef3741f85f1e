"""What finds and stores: documents, passages, snapshots and their index. Decides nothing."""

from .chunking import Chunking, chunk
from .index import Index, Scoring, embed
from .ingest import Ingestion, in_memory, ingest
from .model import PUBLIC, Document, Passage, Problem
from .search import Fields, Hits, Searcher
from .snapshot import Snapshot
from .store import CorpusStore, FixedCorpus, is_root

__all__ = [
    "PUBLIC",
    "Chunking",
    "CorpusStore",
    "Document",
    "Fields",
    "FixedCorpus",
    "Hits",
    "Index",
    "Ingestion",
    "Passage",
    "Problem",
    "Scoring",
    "Searcher",
    "Snapshot",
    "chunk",
    "embed",
    "in_memory",
    "ingest",
    "is_root",
]
