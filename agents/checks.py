"""The critic's checks: pure functions of a draft and of what is stored. All of them always run.

A result names only ids that the store knows; what a draft merely claims is named by its place.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from contracts import (
    Caveat,
    CheckName,
    CheckReason,
    CheckResult,
    DraftAnswer,
    RelatedPassage,
    Segment,
)

from .boundaries import begins_sentence, ends_sentence
from .caveats import Noting, Quoted, due, uncovered
from .cleaning import clean
from .composition import compose
from .compound import split
from .machine import orders_machine, passes_for_ours
from .wording import Wording


class StoredPassage(Protocol):
    """Where a passage lies in its document."""

    @property
    def char_start(self) -> int: ...  # noqa: D102
    @property
    def char_end(self) -> int: ...  # noqa: D102
    @property
    def heading_path(self) -> tuple[str, ...]: ...  # noqa: D102


class StoredDocument(Protocol):
    """A document as it was ingested."""

    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def labels(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def published(self) -> str | None: ...  # noqa: D102
    @property
    def modified(self) -> str | None: ...  # noqa: D102
    def passage(self, passage_id: str) -> StoredPassage | None: ...  # noqa: D102


@dataclass(frozen=True)
class Case:
    """A draft beside what is stored: `documents` is None when its corpus version is unknown."""

    draft: DraftAnswer
    documents: Mapping[str, StoredDocument] | None
    wording: Wording
    noting: Noting

    def document(self, cited: Segment | RelatedPassage) -> StoredDocument | None:
        """The stored document that is cited, if the question may be answered from it."""
        document = (self.documents or {}).get(cited.doc_id)
        return document if document is not None and self.may_read(document) else None

    @cached_property
    def required(self) -> tuple[Caveat, ...]:
        """The caveats that the stored text around the quotes calls for."""
        quotes = [_quoted(self, segment) for segment in self.draft.segments]
        return due(self.draft.intent, quotes, self.noting)

    @cached_property
    def question(self) -> str:
        """What was asked, read as `understand` reads it: the draft's own reading of it isn't believed."""
        return clean(self.draft.intent.query.text)

    def may_read(self, document: StoredDocument) -> bool:
        """Whether the question may be answered from a document."""
        return not set(document.labels).isdisjoint(self.draft.intent.query.labels)

    def places(self) -> "list[tuple[str, Segment | RelatedPassage]]":
        """All that the draft cites, each with its place in the draft."""
        return [
            *((f"segments[{at}]", segment) for at, segment in enumerate(self.draft.segments)),
            *((f"related[{at}]", related) for at, related in enumerate(self.draft.related)),
        ]


def run_checks(case: Case) -> tuple[CheckResult, ...]:
    """Every check's result, in the order of the contract."""
    return (
        non_empty(case),
        citations_resolve(case),
        grounded_in_source(case),
        caveats(case),
        entities_consistent(case),
        not_injected(case),
        labels_allowed(case),
    )


def non_empty(case: Case) -> CheckResult:
    """The draft says something."""
    return _result("non_empty", [] if case.draft.text.strip() else [("empty_text", "")])


def citations_resolve(case: Case) -> CheckResult:
    """Every cited document and passage exists in the stored corpus version, as it is cited."""
    if case.documents is None:
        return _result("citations_resolve", [("corpus_missing", "")])
    faults = [(_citation_fault(case, cited), place) for place, cited in case.places()]
    return _result("citations_resolve", [(why, place) for why, place in faults if why != "ok"])


def _citation_fault(case: Case, cited: Segment | RelatedPassage) -> CheckReason:
    document = case.document(cited)
    if document is None:
        return "document_missing"
    passage = document.passage(cited.passage_id)
    if passage is None:
        return "passage_missing"
    if (cited.title, cited.source) != (document.title, document.source):
        return "citation_differs"
    if cited.heading_path != passage.heading_path:
        return "citation_differs"
    return "ok"


def grounded_in_source(case: Case) -> CheckResult:
    """Each quote is the stored text at its place, and the draft is made of quotes alone."""
    draft = case.draft
    faults: list[tuple[CheckReason, str]] = [
        ("span_differs", _name(case, place, segment))
        for place, segment in enumerate(draft.segments)
        if not _is_quote(case, segment)
    ]
    cited = tuple(dict.fromkeys(segment.passage_id for segment in draft.segments))
    if draft.source_passage_ids != cited:
        faults.append(("sources_differ_from_segments", ""))
    if draft.text != compose(draft.segments, draft.caveats, case.wording):
        faults.append(("text_not_composed_of_segments", ""))
    return _result("grounded_in_source", faults)


def _is_quote(case: Case, segment: Segment) -> bool:
    document = case.document(segment)
    passage = document.passage(segment.passage_id) if document else None
    if document is None or passage is None:
        return False
    start, end = segment.char_start, segment.char_end
    return (
        passage.char_start <= start < end <= passage.char_end
        and document.text[start:end] == segment.text
        and (start == passage.char_start or begins_sentence(document.text, start))
        and (end == passage.char_end or ends_sentence(document.text, end))
    )


def caveats(case: Case) -> CheckResult:
    """What the question names and the source lacks is said, in the text, and nothing else is."""
    draft = case.draft
    required = case.required
    given = [caveat for caveat in draft.caveats if not _tells_open_parts(case, caveat)]
    faults: list[tuple[CheckReason, str]] = []
    if any(caveat not in given for caveat in required):
        faults.append(("caveat_missing", ""))
    if any(caveat not in required for caveat in given):
        faults.append(("caveat_unwarranted", ""))
    if any(case.wording.of_caveat(caveat) not in draft.text for caveat in draft.caveats):
        faults.append(("caveat_not_in_text", ""))
    return _result("caveat_surfaced", faults)


def entities_consistent(case: Case) -> CheckResult:
    """The question is read as it was asked; its entities are those that it names and the vocabulary has.

    A match is claimed where there is one.
    """
    draft, vocabulary = case.draft, case.noting.vocabulary
    entities = draft.intent.entities
    is_as_asked = draft.intent.cleaned_text == case.question
    lacks_entity = any(caveat.kind == "entity_not_in_source" for caveat in case.required)
    faults: list[tuple[CheckReason, str]] = []
    if not all(map(vocabulary.knows, entities)):
        faults.append(("entity_unknown", ""))
    if not is_as_asked or set(entities) != set(vocabulary.named_in(case.question)):
        faults.append(("entities_differ_from_question", ""))
    if draft.entity_match == lacks_entity:
        faults.append(("entity_match_differs", ""))
    return _result("entities_consistent", faults)


def not_injected(case: Case) -> CheckResult:
    """Text that talks to a machine is quoted under its caveat, or not at all; no headings that do are pointed to."""
    is_told = any(caveat.kind == "addressed_to_machine" for caveat in case.draft.caveats)
    faults: list[tuple[CheckReason, str]] = [
        ("machine_addressed", _name(case, place, segment))
        for place, segment in enumerate(case.draft.segments)
        if not is_told and passes_for_ours(segment.text, _above(segment))
    ]
    faults += [
        ("machine_addressed", f"related[{place}]")
        for place, related in enumerate(case.draft.related)
        if orders_machine(_above(related))
    ]
    return _result("not_injected", faults)


def _above(cited: Segment | RelatedPassage) -> str:
    return "\n".join((cited.title, *cited.heading_path))


def labels_allowed(case: Case) -> CheckResult:
    """Every stored document that is cited has a label that the question may be answered from."""
    stored = case.documents or {}
    faults: list[tuple[CheckReason, str]] = [
        ("label_missing", place)
        for place, cited in case.places()
        if cited.doc_id in stored and not case.may_read(stored[cited.doc_id])
    ]
    return _result("labels_allowed", faults)


def _tells_open_parts(case: Case, caveat: Caveat) -> bool:
    """Whether a caveat is that of parts that the question has: which of them are open only `synthesize` knows."""
    if caveat.kind != "partly_covered" or "partly_covered" not in case.noting.kinds:
        return False
    asked = {value for told in uncovered(split(case.question)) for value in told.values}
    return caveat.name is None and bool(caveat.values) and set(caveat.values) <= asked


def _quoted(case: Case, segment: Segment) -> Quoted:
    """A quote with what is stored around it; a quote of nothing that is stored stands alone."""
    document = case.document(segment)
    passage = document.passage(segment.passage_id) if document else None
    if document is None or passage is None:
        return Quoted(segment.text, segment.text, "", segment.doc_id, segment.title)
    return Quoted(
        text=segment.text,
        passage=document.text[passage.char_start : passage.char_end],
        heading="\n".join((document.title, *passage.heading_path)),
        doc_id=segment.doc_id,
        title=document.title,
        dated=document.modified or document.published,
    )


def _name(case: Case, place: int, segment: Segment) -> str:
    document = case.document(segment)
    known = document is not None and document.passage(segment.passage_id) is not None
    return segment.passage_id if known else f"segments[{place}]"


def _result(name: CheckName, faults: Iterable[tuple[CheckReason, str]]) -> CheckResult:
    """The first reason, with the ids of everything that fails for it."""
    faults = list(faults)
    if not faults:
        return CheckResult(name=name, passed=True, reason="ok")
    reason = faults[0][0]
    ids = tuple(dict.fromkeys(place for why, place in faults if why == reason and place))
    return CheckResult(name=name, passed=False, reason=reason, ids=ids)
