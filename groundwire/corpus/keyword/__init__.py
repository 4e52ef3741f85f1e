"""The keyword index: BM25 over what a reader may see. Knows no documents, profiles or fusion.

Terms are made by tantivy, postings and scores are our own: in tantivy 0.27 k1 and b are constants, a field's
length is rounded, and statistics belong to an index, so labels would need an index and a thread per label set.
"""

from .analysis import Analysis, Analyzer
from .files import Row
from .index import Contribution, Hit, KeywordIndex, build
from .scoring import Weights
from .update import Kept, update

__all__ = [
    "Analysis",
    "Analyzer",
    "Contribution",
    "Hit",
    "Kept",
    "KeywordIndex",
    "Row",
    "Weights",
    "build",
    "update",
]
