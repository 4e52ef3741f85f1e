"""Static token vectors, averaged: the fast embedder. WordLlama's two files without its code.

Its own `load()` looks in the wrong folder of its wheel and then asks the network.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .vectors import Vectors, fingerprint, unit

WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")


class WordLlama:
    """The mean of the vectors of a text's tokens, special ones not counted."""

    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        weights, tokenizer = folder / WEIGHTS, folder / TOKENIZER
        self.model_id = f"wordllama:{fingerprint(weights)[:16]}:{fingerprint(tokenizer)[:16]}"
        self._table: Vectors = load_file(weights)["embedding.weight"].astype(np.float32)
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.dimensions = int(self._table.shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit row for each text, in order; zeros for a text without tokens."""
        return unit(self.means(texts))

    def means(self, texts: Sequence[str]) -> Vectors:
        """The means of the texts' tokens, whose length says how much a text's words tell."""
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        for row, one in enumerate(encodings):
            if one.ids:
                rows[row] = self._table[np.asarray(one.ids)].mean(axis=0)
        return rows
