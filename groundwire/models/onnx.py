"""Sentence embeddings of a transformer in ONNX: mean of the token states, as sentence-transformers pools.

One thread: several processes share a machine, and small batches gain little from more.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from contracts import Misconfigured

from .vectors import Vectors, fingerprint, unit

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

BATCH_TOKENS = 1_000
"""Tokens of a batch, padding included: more at a time costs memory and isn't faster on a CPU."""
MAX_TOKENS = 512
"""All that the model has places for. It was trained on fewer, but what it does not see it cannot find."""
UNKNOWN = frozenset({"[UNK]", "<unk>"})


class Pair:
    """A model and its tokenizer, both files of this machine, each opened when it is first needed.

    Most ingestions find every text in the cache, and open neither.
    """

    def __init__(self, model: Path, tokenizer: Path, max_tokens: int) -> None:
        self.model, self._tokenizer_file, self._max_tokens = model, tokenizer, max_tokens

    @cached_property
    def tokenizer(self) -> "Tokenizer":
        """Cuts after `max_tokens`, of two texts the longer first, and doesn't pad."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._tokenizer_file))
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._max_tokens, strategy="longest_first")
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        return open_session(self.model)

    @cached_property
    def _inputs(self) -> frozenset[str]:
        return frozenset(each.name for each in self._session.get_inputs())

    def run(self, feed: Mapping[str, NDArray[np.int64]]) -> Any:
        """The model's first output for those of these inputs that it has."""
        given = {name: value for name, value in feed.items() if name in self._inputs}
        return self._session.run(None, given)[0]


class Onnx:
    """A model and its tokenizer, both files of this machine. A text is cut after `max_tokens`."""

    def __init__(
        self,
        model: Path,
        tokenizer: Path,
        *,
        name: str,
        sha256: str | None = None,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        found = fingerprint(model)
        if sha256 is not None and found != sha256:
            raise Misconfigured(f"model file {model}: its SHA-256 is {found}, not {sha256}")
        self._pair = Pair(model, tokenizer, max_tokens)
        self.model_id = f"{name}:{found[:16]}:{fingerprint(tokenizer)[:16]}:{max_tokens}"

    @cached_property
    def dimensions(self) -> int:
        """The length of a row."""
        return int(self._pooled(self._pair.tokenizer.encode_batch([""])).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit row for each text, in order; zeros where the model knows no token of it."""
        encodings = self._pair.tokenizer.encode_batch(list(texts))
        if not encodings:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        rows: list[Vectors | None] = [None] * len(encodings)
        for places in batches([len(one.ids) for one in encodings]):
            pooled = self._pooled([encodings[place] for place in places])
            for place, row in zip(places, pooled, strict=True):
                rows[place] = row
        found = np.stack([row for row in rows if row is not None])
        # All unknown texts are alike to the model: an emoji must not be near to an unknown script.
        found[[not _is_known(one) for one in encodings]] = 0.0
        return found

    def _pooled(self, encodings: Sequence["Encoding"]) -> Vectors:
        longest = max(len(one.ids) for one in encodings)
        ids = np.zeros((len(encodings), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, one in enumerate(encodings):
            ids[row, : len(one.ids)] = one.ids
            mask[row, : len(one.ids)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._pair.run(feed)
        if states.ndim == 3:
            weights = mask[:, :, None].astype(np.float32)
            states = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
        return unit(states)


def _is_known(encoding: "Encoding") -> bool:
    tokens = zip(encoding.tokens, encoding.special_tokens_mask, strict=True)
    return any(token not in UNKNOWN and not is_special for token, is_special in tokens)


def open_session(model: Path) -> Any:
    """A model ready to run, on one thread; Misconfigured if it is none."""
    os.environ["ORT_DISABLE_TELEMETRY"] = (
        "1"  # since 1.29 it reports to its maker, from its import on
    )
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise Misconfigured(f"model file {model} is no ONNX model that runs here") from error


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places by rising length, in groups of at most BATCH_TOKENS tokens once padded to the longest."""
    group: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: (lengths[place], place)):
        if group and (len(group) + 1) * lengths[place] > BATCH_TOKENS:
            yield group
            group = []
        group.append(place)
    if group:
        yield group
