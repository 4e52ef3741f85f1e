"""The vector store: cosines in whole numbers, exact and the same everywhere. Knows no model, documents or fusion."""

from .files import Built, VectorRow
from .index import Near, VectorIndex, build

__all__ = ["Built", "Near", "VectorIndex", "VectorRow", "build"]
