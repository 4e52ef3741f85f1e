"""What readers are told in each outcome. A value: the words are configuration, not code."""

from dataclasses import dataclass

from contracts import Caveat, OutOfScopeReason

VALUES = "{values}"
TOPICS = "{topics}"


@dataclass(frozen=True)
class Wording:
    """The message of every outcome; `caveat_entity` has a place for `{values}`.

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

    def of_caveat(self, caveat: Caveat) -> str:
        """The sentence that a caveat is shown as."""
        return self.caveat_entity.replace(VALUES, ", ".join(caveat.values))

    def of_out_of_scope(self, reason: OutOfScopeReason) -> str:
        """Why there is no answer, and what the system can help with."""
        match reason:
            case "empty":
                said = self.empty
            case "language":
                said = self.language
            case "no_label" | "low_confidence" | "far_from_corpus":
                said = self.out_of_scope
        if not self.topics or not self.can_help or TOPICS in said:
            return said.replace(TOPICS, ", ".join(self.topics))
        return f"{said} {self.can_help.replace(TOPICS, ', '.join(self.topics))}"
