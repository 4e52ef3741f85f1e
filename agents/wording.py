"""What readers are told in each outcome. A value: the words are configuration, not code."""

from dataclasses import dataclass

from contracts import Caveat

VALUES = "{values}"


@dataclass(frozen=True)
class Wording:
    """The message of every outcome; `caveat_entity` has a place for `{values}`."""

    out_of_scope: str = "That is outside what these documents cover, so I have no answer for it."
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
