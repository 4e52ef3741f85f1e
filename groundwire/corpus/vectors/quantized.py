"""Unit vectors as whole numbers of eight bits, so that every sum is exact: a cosine doesn't depend on the
machine, the number of threads, or what else is compared.
"""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.int8]
Floats = NDArray[np.float64]

MOST = 127
BLOCK = 4_096
# Below this, whole numbers are exact in 32-bit floats, and so are their sums in any order.
EXACT_FLOAT32 = 2**24


def quantized(rows: NDArray[np.floating | np.integer]) -> Bytes:
    """Each row scaled so that its largest component is 127, and rounded. Rows that are so already stay.

    ValueError for what is not a number; a row of zeros stays one.
    """
    values = np.asarray(rows, np.float64)
    if not np.isfinite(values).all():
        raise ValueError("a vector has a component that is not a finite number")
    largest = np.abs(values).max(axis=1, keepdims=True, initial=0.0)
    scaled = values * (MOST / np.where(largest > 0, largest, 1.0))
    return np.rint(scaled).astype(np.int8)


def squares(rows: Bytes) -> NDArray[np.int64]:
    """The squared length of each row."""
    return np.concatenate(
        [
            np.einsum("ij,ij->i", block, block)
            for block in (
                rows[at : at + BLOCK].astype(np.int64) for at in range(0, len(rows), BLOCK)
            )
        ]
        or [np.empty(0, np.int64)]
    )


def dots(rows: Bytes, query: Bytes) -> Floats:
    """The scalar product of each row with the query, exactly."""
    kind = np.float32 if rows.shape[1] * MOST**2 < EXACT_FLOAT32 else np.float64
    asked = query.astype(kind)
    found = np.empty(len(rows), kind)
    # A block stays in the cache between its conversion and its product.
    block = np.empty((min(BLOCK, len(rows)), rows.shape[1]), kind)
    for at in range(0, len(rows), BLOCK):
        size = len(rows[at : at + BLOCK])
        block[:size] = rows[at : at + BLOCK]
        np.dot(block[:size], asked, out=found[at : at + size])
    return found.astype(np.float64)


def cosines(rows: Bytes, row_squares: NDArray[np.int64], query: Bytes) -> Floats:
    """The cosine of each row with the query."""
    asked = int(squares(query[None])[0])
    return np.asarray(dots(rows, query) / np.sqrt(row_squares.astype(np.float64) * asked))
