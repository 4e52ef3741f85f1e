"""A cross-encoder in ONNX, a user's own: one score for a question and a passage that are read together."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from contracts import Misconfigured

from .onnx import Pair, batches
from .vectors import Vectors, fingerprint

if TYPE_CHECKING:
    from tokenizers import Encoding

MAX_TOKENS = 512


class CrossEncoder:
    """A model and its tokenizer, both files of this machine. A pair is cut after `max_tokens`, the longer first."""

    def __init__(self, model: Path, tokenizer: Path, *, max_tokens: int = MAX_TOKENS) -> None:
        self._pair = Pair(model, tokenizer, max_tokens)
        self.model_id = f"cross-encoder:{fingerprint(model)[:16]}:{fingerprint(tokenizer)[:16]}"

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the question, in the order given; logits, so of any sign."""
        encodings = self._pair.tokenizer.encode_batch([(question, text) for text in texts])
        scores = [0.0] * len(encodings)
        for places in batches([len(one.ids) for one in encodings]):
            found = self._logits([encodings[place] for place in places])
            for place, score in zip(places, found, strict=True):
                scores[place] = float(score)
        return scores

    def _logits(self, encodings: Sequence["Encoding"]) -> Vectors:
        longest = max(len(one.ids) for one in encodings)
        feed = {
            name: np.zeros((len(encodings), longest), dtype=np.int64)
            for name in ("input_ids", "attention_mask", "token_type_ids")
        }
        for row, one in enumerate(encodings):
            end = len(one.ids)
            feed["input_ids"][row, :end] = one.ids
            feed["attention_mask"][row, :end] = one.attention_mask
            feed["token_type_ids"][row, :end] = one.type_ids
        logits = np.asarray(self._pair.run(feed), dtype=np.float32)
        logits = logits.reshape(len(encodings), -1)
        if logits.shape[1] > 2 or not np.isfinite(logits).all():
            raise Misconfigured(
                f"model {self._pair.model}: not one or two finite numbers for each pair"
            )
        # Of two the second is that of "it answers": their difference orders as its probability does.
        return np.asarray(logits[:, -1] - (logits[:, 0] if logits.shape[1] == 2 else 0.0))
