"""How questions are read, by a profile and the intents: taken apart, asked back, in which languages."""

from agents.entities import Vocabulary
from agents.underspecified import Asking
from agents.understand import PLAIN, Reading
from groundwire.intents import Intents
from groundwire.profiles import Profile

from .languages import Foreign


def reading_of(intents: Intents, vocabulary: Vocabulary, profile: Profile) -> Reading:
    """What the profile switches on, on the words of the intents."""
    part = profile.understand
    if not (part.splits or part.asks_back or part.languages):
        return PLAIN
    # Keywords of any language may stand in a file that names none.
    is_told = intents.has_examples or "languages" in intents.model_fields_set
    asking = Asking(
        vocabulary,
        intents.ask_back,
        frozenset(profile.terms.stopwords),
        {intent.label: tuple(intent.keywords) for intent in intents.intents},
    )
    return Reading(
        splits=part.splits,
        asking=asking if part.asks_back else None,
        is_foreign=Foreign(frozenset(intents.languages)) if part.languages and is_told else None,
    )
