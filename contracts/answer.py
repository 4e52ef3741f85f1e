"""From passages to a checked answer. A rejected answer has no field that could hold its text."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from .base import Value
from .query import Channel, Intent, Name, Score

Offset = Annotated[int, Field(ge=0)]
Rank = Annotated[int, Field(ge=1)]


Signal = Literal["keyword", "vectors"]


class Lead(Value):
    """A table's header or a list's lead-in, in a passage of the same document; verbatim, as a `Segment` is.

    `passage`: the whole text of that passage, which begins at `passage_start`.
    """

    text: str
    passage: str
    passage_start: Offset
    passage_id: Name
    heading_path: tuple[str, ...] = ()
    char_start: Offset
    char_end: Offset


class RetrievedPassage(Value):
    """A passage and how it was found. Offsets are characters of the stored document.

    `dated`: when its document was last changed, else published, by what it says itself, as ISO 8601.
    `lead`: what the passage needs to be understood, where that isn't in it.
    `vector_score`: None where the corpus had no vectors (yet).
    """

    passage_id: Name
    doc_id: Name
    title: str
    source: str
    heading_path: tuple[str, ...] = ()
    text: str
    char_start: Offset
    char_end: Offset
    dated: str | None = None
    lead: Lead | None = None
    keyword_score: float
    vector_score: float | None
    hybrid_score: float
    hybrid_rank: Rank
    rerank_score: float | None = None
    final_rank: Rank


class PartScore(Value):
    """What a passage scored for a part of the question."""

    passage_id: Name
    keyword_score: float
    vector_score: float | None
    rerank_score: float | None


class Part(Value):
    """A part of a compound question, and the passages for it, best first; all are among those of the context."""

    question: str
    scores: tuple[PartScore, ...]


class RetrievedContext(Value):
    """The passages for an intent, best first, all of one corpus version. `signals`: what they were found by.

    `parts`: of a compound question, each searched for as well; what only a part found stands last.
    """

    type: Literal["context"] = "context"
    intent: Intent
    corpus_version: Name
    signals: tuple[Signal, ...] = ("keyword", "vectors")
    passages: tuple[RetrievedPassage, ...]
    parts: tuple[Part, ...] = ()


class Segment(Value):
    """A verbatim quote: `document.text[char_start:char_end] == text`."""

    text: str
    passage_id: Name
    doc_id: Name
    title: str
    source: str
    heading_path: tuple[str, ...] = ()
    char_start: Offset
    char_end: Offset


CaveatKind = Literal[
    "entity_not_in_source",
    "number_not_in_source",
    "date_not_in_source",
    "name_not_in_source",
    "sources_disagree",
    "source_is_old",
    "partly_covered",
    "addressed_to_machine",
]


class Caveat(Value):
    """What the reader must know beside the quote; its wording, one for each kind, is configuration.

    `values`: what the wording names. Of the `…_not_in_source`, words of the question, and `name` that of the entity;
    of `sources_disagree`, titles; of `source_is_old`, dates; of `partly_covered`, the sub-questions left open.
    """

    kind: CaveatKind
    name: Name | None = None
    values: tuple[Name, ...] = ()


class RelatedPassage(Value):
    """Where the reader might look instead: a pointer, never an answer."""

    passage_id: Name
    doc_id: Name
    title: str
    source: str
    heading_path: tuple[str, ...] = ()


class DraftAnswer(Value):
    """An answer that nobody may see yet. No segments: an honest fallback, and `related` says where to look.

    `evidence`: the calibrated probability that what was found answers the question; None where nobody gauged it.
    """

    type: Literal["draft"] = "draft"
    intent: Intent
    corpus_version: Name
    text: str
    segments: tuple[Segment, ...]
    source_passage_ids: tuple[Name, ...]
    entity_match: bool
    evidence: Score | None = None
    caveats: tuple[Caveat, ...] = ()
    related: tuple[RelatedPassage, ...] = ()


CheckName = Literal[
    "non_empty",
    "citations_resolve",
    "grounded_in_source",
    "caveat_surfaced",
    "entities_consistent",
    "not_injected",
    "labels_allowed",
]
CheckReason = Literal[
    "ok",
    "empty_text",
    "corpus_missing",
    "document_missing",
    "passage_missing",
    "citation_differs",
    "span_differs",
    "text_not_composed_of_segments",
    "sources_differ_from_segments",
    "caveat_missing",
    "caveat_unwarranted",
    "caveat_not_in_text",
    "entity_unknown",
    "entities_differ_from_question",
    "entity_match_differs",
    "machine_addressed",
    "label_missing",
]


class CheckResult(Value):
    """One check of the critic. The reason is a code and ids, never prose."""

    name: CheckName
    passed: bool
    reason: CheckReason
    ids: tuple[Name, ...] = ()


class Approved(Value):
    """The draft passed every check and may be shown."""

    type: Literal["approved"] = "approved"
    label: Literal["approved", "approved_fallback"]
    intent: Intent
    corpus_version: Name
    segments: tuple[Segment, ...]
    caveats: tuple[Caveat, ...]
    related: tuple[RelatedPassage, ...]
    checks: tuple[CheckResult, ...]


class Rejected(Value):
    """The draft failed a check. What format never receives, it cannot leak."""

    type: Literal["rejected"] = "rejected"
    label: Literal["rejected"] = "rejected"
    intent: Intent
    corpus_version: Name
    checks: tuple[CheckResult, ...]


CriticVerdict = Annotated[Approved | Rejected, Field(discriminator="type")]

Status = Literal[
    "approved", "approved_fallback", "clarification_needed", "out_of_scope", "rejected", "failed"
]


class Citation(Value):
    """A numbered source under an answer. `link`: where a reader finds it, if that is configured."""

    number: Rank
    doc_id: Name
    passage_id: Name
    title: str
    source: str
    heading_path: tuple[str, ...]
    char_start: Offset
    char_end: Offset
    quote: str
    link: str | None = None


class ChannelPayload(Value):
    """The answer for a program: the same value that `display_text` is written from."""

    status: Status
    message: str
    citations: tuple[Citation, ...] = ()
    caveats: tuple[str, ...] = ()
    related: tuple[RelatedPassage, ...] = ()
    options: tuple[str, ...] = ()


class FormattedResponse(Value):
    """What leaves the system: exactly one for every accepted query."""

    is_written_in_full: ClassVar[bool] = True
    type: Literal["response"] = "response"
    query_id: Name
    session_id: Name
    channel: Channel
    status: Status
    label: str
    confidence: float
    display_text: str
    channel_json: ChannelPayload
    segments: tuple[Segment, ...] = ()
    corpus_version: str | None = None
    failed_checks: tuple[CheckName, ...] = ()
    supersedes: str | None = None
