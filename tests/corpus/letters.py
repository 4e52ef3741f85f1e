"""What the tests of stored vectors embed by: letters, counted."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def letter_counts(texts: Sequence[str]) -> NDArray[np.float32]:
    """A row for each text, of how often it has each letter."""
    rows = np.zeros((len(texts), 26), np.float32)
    for row, text in zip(rows, texts, strict=True):
        for letter in text.lower():
            if "a" <= letter <= "z":
                row[ord(letter) - ord("a")] += 1
    return rows
