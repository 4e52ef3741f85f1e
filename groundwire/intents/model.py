"""The shape of `intents.toml`, and what must hold between its parts."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

FILE_NAME = "intents.toml"
VALUES = "{values}"
RESERVED = "out_of_scope"
PRODUCT = "product"
PLACES = ("source", "doc_id", "passage_id", "heading", "char_start", "char_end")
"""What a link may name of a quote."""

Label = Annotated[str, Field(min_length=1, max_length=200)]
Word = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
Weight = Annotated[float, Field(gt=0.0)]
Message = Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"\S")]
Example = Annotated[str, Field(min_length=1, max_length=1_000, pattern=r"\S")]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
Place = tuple[int | str, ...]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class IntentPart(_Part):
    """One label, the weighted keywords that speak for it, and questions that people ask about it."""

    label: Label
    description: str = ""
    keywords: dict[Word, Weight] = {}
    examples: tuple[Example, ...] = ()

    @field_validator("label")
    @classmethod
    def _is_free(cls, label: str) -> str:
        if label == RESERVED:
            raise ValueError(f"{RESERVED!r} is what a question without an intent is called")
        return label

    @field_validator("keywords")
    @classmethod
    def _says_some(cls, keywords: dict[str, float]) -> dict[str, float]:
        if not keywords:
            raise ValueError("is empty; leave it out, or name a keyword")
        return keywords

    @model_validator(mode="after")
    def _is_told(self) -> "IntentPart":
        if not self.keywords and not self.examples:
            raise ValueError("needs keywords or examples")
        return self


class Messages(_Part):
    """The message of each outcome; what is not given keeps the built-in words.

    `link`: the address of what is cited.
    """

    out_of_scope: Message | None = None
    can_help: Message | None = None
    empty: Message | None = None
    language: Message | None = None
    rejected: Message | None = None
    fallback: Message | None = None
    failed: Message | None = None
    clarification: Message | None = None
    caveat_entity: Message | None = None
    caveat_number: Message | None = None
    caveat_date: Message | None = None
    caveat_name: Message | None = None
    caveat_disagree: Message | None = None
    caveat_old: Message | None = None
    caveat_partly: Message | None = None
    caveat_machine: Message | None = None
    link: Annotated[str, Field(max_length=2_000, pattern=r"^(https?://|/|\.)\S*$")] | None = None

    @field_validator(
        "caveat_entity",
        "caveat_number",
        "caveat_date",
        "caveat_name",
        "caveat_disagree",
        "caveat_old",
        "caveat_partly",
    )
    @classmethod
    def _names_values(cls, message: str | None) -> str | None:
        if message is not None and VALUES not in message:
            raise ValueError(f"has no place for {VALUES}")
        return message

    @field_validator("link")
    @classmethod
    def _has_places(cls, link: str | None) -> str | None:
        unknown = [place for place in re.findall(r"\{(\w+)\}", link or "") if place not in PLACES]
        if unknown:
            raise ValueError(f"has no {{{unknown[0]}}} to put in; there are: {', '.join(PLACES)}")
        return link


class Intents(_Part):
    """The whole file. Entities keep their listing order: the first listed word decides.

    `threshold`: the least share of the best label, where the classifier is keywords alone; examples calibrate
    their own, so that the share `keep` of questions like them is answered. `patterns`: entities by regular
    expression. `ask_back`: entities that are asked for where a question leaves them open.
    """

    version: Literal[1]
    threshold: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    keep: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95
    languages: Annotated[tuple[Language, ...], Field(min_length=1)] = ("en",)
    ask_back: tuple[Label, ...] = (PRODUCT,)
    intents: Annotated[tuple[IntentPart, ...], Field(min_length=1)]
    entities: dict[Label, dict[Label, Annotated[tuple[Word, ...], Field(min_length=1)]]] = {}
    patterns: dict[Label, Word] = {}
    messages: Messages = Messages()

    @field_validator("patterns")
    @classmethod
    def _compile(cls, patterns: dict[str, str]) -> dict[str, str]:
        for name, pattern in patterns.items():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(
                    f"{name}: {pattern!r} is no regular expression: {error}"
                ) from error
        return patterns

    @property
    def has_examples(self) -> bool:
        """Whether a classifier can learn from the file."""
        return any(intent.examples for intent in self.intents)


def conflicts(found: Intents) -> list[tuple[Place, str]]:
    """What contradicts itself: the place of each conflict and what is wrong there."""
    return [*_labels_twice(found), *_examples_twice(found), *_names(found)]


def _labels_twice(found: Intents) -> list[tuple[Place, str]]:
    seen: set[str] = set()
    faults: list[tuple[Place, str]] = []
    for at, intent in enumerate(found.intents):
        if intent.label in seen:
            faults.append((("intents", at, "label"), f"the label {intent.label!r} occurs twice"))
        seen.add(intent.label)
    return faults


def _examples_twice(found: Intents) -> list[tuple[Place, str]]:
    owner: dict[str, str] = {}
    faults: list[tuple[Place, str]] = []
    for at, intent in enumerate(found.intents):
        for number, example in enumerate(intent.examples):
            key = " ".join(example.lower().split())
            other = owner.setdefault(key, intent.label)
            if other != intent.label:
                place = ("intents", at, "examples", number)
                faults.append((place, f"{example!r} is an example of {other!r} too"))
    return faults


def _names(found: Intents) -> list[tuple[Place, str]]:
    faults: list[tuple[Place, str]] = [
        (("ask_back",), f"there is no entity {name!r}")
        for name in found.ask_back
        if name not in found.entities and name != PRODUCT
    ]
    both = [name for name in found.patterns if name in found.entities]
    faults += [(("patterns", name), f"{name!r} is an entity with words too") for name in both]
    return faults


def schema() -> dict[str, Any]:
    """The JSON schema of the file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Intents.model_json_schema(),
    }
