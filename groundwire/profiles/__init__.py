"""Profiles: the named, versioned configuration of all five agents, and the intents they ship with."""

import hashlib
import json
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contracts import CaveatKind, Misconfigured

Share = Annotated[float, Field(ge=0.0, le=1.0)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class UnderstandPart(_Part):
    """How questions are read.

    `threshold`: the least share of a label to be named, and for keywords alone of the best to be in scope.
    `classifier`: keywords, examples, or both where the intents have examples; `embedders` are what those are compared
    by. `entities`: the first listed value of each, or all. `splits`, `asks_back`, `languages`: whether compound
    questions are taken apart, open ones asked back, foreign ones refused.
    """

    threshold: Share
    matching: Literal["substring", "words"]
    classifier: Literal["keywords", "examples", "combined"] = "keywords"
    embedders: tuple[Annotated[str, Field(pattern=r"^(wordllama|minilm|onnx:.+)$")], ...] = ()
    entities: Literal["first", "all"] = "first"
    splits: bool = False
    asks_back: bool = False
    languages: bool = False


class ChunkingPart(_Part):
    """How documents are cut; sizes in characters."""

    method: Literal["fixed", "structure", "windows"]
    size: Annotated[int, Field(ge=20, le=100_000)]
    overlap: Annotated[int, Field(ge=0)] = 0


class TermsPart(_Part):
    """What a text is found by: its terms, and whether titles and headings count as its text."""

    stems: bool
    fields: tuple[Literal["text", "title", "headings"], ...]
    stopwords: tuple[str, ...]


class RetrievePart(_Part):
    """BM25's `k1` and `b`, `alpha` of keywords against vectors, and `k` passages kept.

    `embedder`: `hashing` is the course's, of so many `dimensions`, with every passage scored; `none`
    is words alone, `http` what the settings name. `most_shared`: the share of a passage that a better one may
    hold as well for both to be kept, for methods whose passages overlap. `merged_chars`: what is found is read with
    its neighbours of the same section up to so many characters; 0: alone. `parts`: whether the parts of a
    compound question are searched for as well. `adds_topic`: a question
    with keywords of a label, but no word of its name, is searched for with that name. `sentences`: whether each
    sentence of a passage has a vector too, for the feature of that name. `weights`: of the features by
    which `linear` reorders the best `depth`; `cross-encoder:PATH` does so by an ONNX model.
    """

    k1: Annotated[float, Field(ge=0.0)]
    b: Share
    embedder: Annotated[str, Field(pattern=r"^(hashing|none|wordllama|minilm|http|onnx:.+)$")] = (
        "hashing"
    )
    dimensions: Annotated[int, Field(ge=1)] = 256
    fusion: Literal["convex", "rrf"] = "convex"
    alpha: Share
    k: Annotated[int, Field(ge=1, le=100)]
    keep_unsupported: bool
    least_cosine: Annotated[float, Field(ge=-1.0, le=1.0)] | None = None
    most_shared: Share = 1.0
    merged_chars: Annotated[int, Field(ge=0, le=100_000)] = 0
    adds_topic: bool = False
    parts: bool = False
    sentences: bool = False
    rerank: Annotated[str, Field(pattern=r"^(none|pairs|linear|cross-encoder:.+)$")]
    depth: Annotated[int, Field(ge=1, le=200)] = 50
    weights: dict[str, float] = Field(default_factory=dict)


class AnswerPart(_Part):
    """A learned model of answers: of each sentence's share in one, and of whether there is one at all.

    `threshold`: the least probability that the evidence answers for anything to be quoted.
    """

    threshold: Share
    bias: float
    sentence: dict[str, float]
    answer_bias: float
    answer: dict[str, float]


class SynthesizePart(_Part):
    """How answers are drafted.

    `synthesizer`: `top_passage` quotes the best passage whole; `extractive` the sentences, at most `most` for each
    part of the question, whose expected F measure is highest: `beta` below 1 makes answers shorter, as does `brevity`,
    the F that quoting a passage's length has to gain. `likeness`: by what sentences are compared word by word;
    `meaning`: by what as wholes, where passages are found with vectors. `vectors`, `words`: what was learned for
    passages found with vectors, and without. `entity_words`: whether a source must use an entity's canonical word or
    any listed one. `caveats`: what is noted beside quotes; `old_after_days`: from when on a source is old.
    """

    synthesizer: Literal["top_passage", "extractive"] = "top_passage"
    most: Annotated[int, Field(ge=1, le=50)] = 8
    beta: Annotated[float, Field(gt=0.0, le=4.0)] = 1.0
    brevity: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    likeness: Literal["stems", "wordllama"] = "stems"
    meaning: Literal["none", "minilm"] = "none"
    vectors: AnswerPart | None = None
    words: AnswerPart | None = None
    entity_words: Literal["canonical", "listed"]
    caveats: tuple[CaveatKind, ...] = ("entity_not_in_source",)
    old_after_days: Annotated[int, Field(ge=1)] = 730


class CriticPart(_Part):
    """How a sentence that isn't verbatim is judged: supported from `threshold` on, by the `weights` of its features."""

    bias: float = 0.0
    threshold: Share = 1.0
    weights: dict[str, float] = Field(default_factory=dict)


class Profile(_Part):
    """Everything that evaluation compares.

    `intents`: the shipped set where documents have none; None: what the documents are about decides. `sets_aside`:
    whether text addressed to a machine is taken out of documents when they are ingested.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]
    version: Annotated[int, Field(ge=1)]
    description: str
    intents: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")] | None = None
    sets_aside: bool = False
    understand: UnderstandPart
    chunking: ChunkingPart
    terms: TermsPart
    retrieve: RetrievePart
    synthesize: SynthesizePart
    critic: CriticPart = CriticPart()

    @property
    def digest(self) -> str:
        """The first 16 hex digits of the SHA-256 of all that the profile decides."""
        decides = self.model_dump(mode="json", exclude={"description"})
        text = json.dumps(_without_floats(decides), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def names() -> tuple[str, ...]:
    """The profiles that are shipped."""
    shipped = (entry.name for entry in files(__package__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in shipped if name.endswith(".toml")))


def load(name_or_path: str) -> Profile:
    """A shipped profile by name, or any by the path of its `.toml` file."""
    if name_or_path.endswith(".toml"):
        path = Path(name_or_path)
        try:
            return _parse(path.read_text(encoding="utf-8"), name_or_path)
        except (OSError, UnicodeDecodeError) as error:
            raise Misconfigured(f"profile {name_or_path}: cannot be read: {error}") from error
    if name_or_path not in names():
        raise Misconfigured(f"no profile {name_or_path!r}; there are: {', '.join(names())}")
    file = files(__package__) / f"{name_or_path}.toml"
    return _parse(file.read_text(encoding="utf-8"), f"profile {name_or_path}")


def shipped_intents(name: str) -> str:
    """The text of an intents file that is shipped with the profiles."""
    file = files(__package__) / "intents" / f"{name}.toml"
    if not file.is_file():
        raise Misconfigured(f"no shipped intents {name!r}")
    return file.read_text(encoding="utf-8")


def _parse(text: str, where: str) -> Profile:
    try:
        return Profile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise Misconfigured(f"{where}: is not TOML: {error}") from error
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in fault["loc"])
        raise Misconfigured(f"{where}: {key}: {fault['msg']}") from error


def _without_floats(value: Any) -> Any:
    """The value with each float as its shortest text: nothing that is hashed is a float."""
    if isinstance(value, dict):
        return {key: _without_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_floats(item) for item in value]
    return repr(value) if isinstance(value, float) else value


__all__ = ["AnswerPart", "Profile", "load", "names", "shipped_intents"]
