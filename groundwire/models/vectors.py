"""Rows of numbers, and what makes them comparable: their unit length."""

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contracts import Misconfigured

Vectors = NDArray[np.float32]


def unit(rows: Vectors) -> Vectors:
    """Each row divided by its length; a row of zeros stays one."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0.0, lengths, 1.0), dtype=np.float32)


def fingerprint(path: Path) -> str:
    """The SHA-256 of a file; Misconfigured if it can't be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise Misconfigured(f"model file {path}: {error.strerror}") from error
