"""What readers are told in each outcome. A value: the words are configuration, not code."""

import re
from dataclasses import dataclass
from urllib.parse import quote

from contracts import Caveat, CaveatKind, OutOfScopeReason, Segment

VALUES = "{values}"
TOPICS = "{topics}"
_PLACE = re.compile(r"\{\w+\}")
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Of the direction of writing: a title that holds one shows the path after it backwards."""
_NO_ANCHOR = re.compile(r"[^\w\- ]")


@dataclass(frozen=True)
class Wording:
    """The message of every outcome; every `caveat_…` but that of a machine has a place for `{values}`.

    `link` is the address of what is cited, with places for `{source}`, `{heading}` and others; None: nothing is linked.
    `can_help` and `language` may have one for `{topics}`, what the system can help with: `topics`, one by one.
    """

    out_of_scope: str = "That is outside what these documents cover, so I have no answer for it."
    can_help: str = "I can help with: {topics}."
    empty: str = "There was no question in that. What would you like to know?"
    language: str = "I can't answer questions in this language."
    topics: tuple[str, ...] = ()
    rejected: str = "I could not verify an answer against the documents, so I am not giving one."
    fallback: str = "I looked through the documents and found nothing that answers this."
    failed: str = "Something went wrong on our side and this question was not answered."
    clarification: str = "Your question can be read in more than one way. Which do you mean?"
    caveat_entity: str = (
        "Please note: the quoted text does not mention {values}, so it may not apply to it."
    )

    caveat_number: str = "Please note: the quoted text does not mention {values}."
    caveat_date: str = "Please note: the quoted text does not mention {values}."
    caveat_name: str = "Please note: the quoted text does not mention {values}."
    caveat_disagree: str = "Please note: these sources do not say the same: {values}."
    caveat_old: str = "Please note: a quoted source was last changed on {values}."
    caveat_partly: str = "I found nothing that answers this part of your question: {values}"
    caveat_machine: str = (
        "Please note: the quoted text holds instructions to a machine; they are part of the document, "
        "and nobody followed them."
    )

    link: str | None = None

    def of_caveat(self, caveat: Caveat) -> str:
        """The sentence that a caveat is shown as; a value with line ends is part of it like any other."""
        separator = " " if caveat.kind == "partly_covered" else ", "
        values = separator.join(map(in_line, caveat.values))
        return self._words_of(caveat.kind).replace(VALUES, values)

    def _words_of(self, kind: CaveatKind) -> str:
        match kind:
            case "entity_not_in_source":
                return self.caveat_entity
            case "number_not_in_source":
                return self.caveat_number
            case "date_not_in_source":
                return self.caveat_date
            case "name_not_in_source":
                return self.caveat_name
            case "sources_disagree":
                return self.caveat_disagree
            case "source_is_old":
                return self.caveat_old
            case "partly_covered":
                return self.caveat_partly
            case "addressed_to_machine":
                return self.caveat_machine

    def of_link(self, segment: Segment) -> str | None:
        """The address of a quote, each value escaped for a URL; `{heading}` is the anchor of the last one."""
        if self.link is None:
            return None
        values = {
            "{source}": quote(segment.source),
            "{doc_id}": quote(segment.doc_id),
            "{passage_id}": quote(segment.passage_id),
            "{heading}": quote(_anchor((segment.heading_path or ("",))[-1])),
            "{char_start}": str(segment.char_start),
            "{char_end}": str(segment.char_end),
        }
        return _PLACE.sub(lambda place: values.get(place[0], place[0]), self.link)

    def of_out_of_scope(self, reason: OutOfScopeReason) -> str:
        """Why there is no answer, and what the system can help with."""
        match reason:
            case "empty":
                said = self.empty
            case "language":
                said = self.language
            case "no_label" | "low_confidence" | "far_from_corpus":
                said = self.out_of_scope
        topics = ", ".join(map(in_line, self.topics))
        if not topics or not self.can_help or TOPICS in said:
            return said.replace(TOPICS, topics)
        return f"{said} {self.can_help.replace(TOPICS, topics)}"


def in_line(text: str) -> str:
    """What is shown within a line: line ends would begin something of its own, a turn would go on behind it."""
    return " ".join(_TURNS.sub("", text).splitlines())


def _anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub and most renderers make it."""
    return _NO_ANCHOR.sub("", heading.strip().lower()).replace(" ", "-")
