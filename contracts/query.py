"""What a client asks, and what `understand` makes of it."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from .base import Value

MAX_TEXT_CHARS = 8_000
PUBLIC = "public"
"""The label of documents that anyone may be answered from."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
QueryId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:-]{0,200}$")]
Traceparent = Annotated[
    str, StringConstraints(pattern=r"^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")
]
Score = Annotated[float, Field(ge=0.0, le=1.0)]
Channel = Literal["text", "markdown", "html", "json"]


class Query(Value):
    """A question. `query_id` and `asked_at` are stamped by submit; leave them empty."""

    type: Literal["query"] = "query"
    query_id: QueryId = ""
    text: Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS)]
    session_id: Name
    user_id: Name | None = None
    feature: Name | None = None
    channel: Channel = "text"
    labels: tuple[Name, ...] = (PUBLIC,)
    asked_at: datetime | None = None
    trace: Traceparent | None = None


class Entity(Value):
    """A thing that the question names, by its canonical value: `plan_type` = `annual`."""

    name: Name
    value: Name


class Intent(Value):
    """The question understood. `category_scores` sum to 1, or are all 0 when nothing matched."""

    type: Literal["intent"] = "intent"
    query: Query
    cleaned_text: str
    label: Name
    labels: tuple[Name, ...] = ()
    sub_questions: tuple[str, ...] = ()
    confidence: Score
    category_scores: dict[str, Score]
    entities: tuple[Entity, ...] = ()
    in_scope: bool


OutOfScopeReason = Literal["empty", "no_label", "low_confidence", "far_from_corpus", "language"]


class OutOfScope(Value):
    """The question is not one for this system, and why."""

    type: Literal["out_of_scope"] = "out_of_scope"
    intent: Intent
    reason: OutOfScopeReason


class Clarification(Value):
    """The question has more than one reading: the options to ask back."""

    type: Literal["clarification"] = "clarification"
    intent: Intent
    options: Annotated[tuple[str, ...], Field(min_length=1)]
