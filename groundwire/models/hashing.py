"""The course's embedder as dense rows: signed hashes of terms, computed by what it is given."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from .vectors import Vectors


class Hashing:
    """Makes rows of the sparse unit vectors of `sparse`, whose places are below `dimensions`."""

    def __init__(self, sparse: Callable[[str], Mapping[int, float]], dimensions: int) -> None:
        self._sparse = sparse
        self.dimensions = dimensions
        self.model_id = f"hashing:{dimensions}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text, in order; zeros where no term is left."""
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for place, value in self._sparse(text).items():
                rows[row, place] = value
        return rows
