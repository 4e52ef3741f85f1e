"""Whether a text talks to a machine that reads it: instructions that somebody planted for a language model. Pure.

By form alone. Nothing here could be made to follow such text; it is told so that nobody takes it for the document's
own word. Rules were written on BIPIA's training attacks and tried on documents that hold none.
"""

import re

_SENTENCE = re.compile(r"(?<=[.!?:])[\"'”’)\]]*\s+|\n+")
_LEAD = re.compile(r"^[\s>*_#\"'“”‘’(\[|`•–—-]*(?:\d+[.)]\s+)?")
_POLITE = r"(?:(?:please|kindly|now|also|then|and|next|finally|first|so|just|instead)\W+)*"
_ASKED = rf"^{_POLITE}(?:(?:can|could|would|will)\s+you\s+(?:please\s+|also\s+)?)?"
_OUTPUT = re.compile(
    r"\byour\s+(?:\w+\s+)?(?:response|answer|reply|output|completion|generation)s?\b", re.IGNORECASE
)
_MESSAGE = re.compile(r"\byour\s+(?:\w+\s+)?message\b", re.IGNORECASE)
_FORM = re.compile(
    r"letter|\bword|vowel|spell|cipher|encod|encrypt|decod|\bbase\s?\d|substitut|anagram|emoji|revers|backward|"
    r"translat|language|\bspaces\b|symbol|rhym|upper\s?case|lower\s?case|homophon|format",
    re.IGNORECASE,
)
_STATING = (
    "a after all although any as at because before both but by each every for from he her his how i if it its my "
    "no not on once one only or our she since some such that the their there these they this those though to "
    "unless until upon we what when where whether which while who whose why with without you your"
)
_STATES = frozenset(_STATING.split())
"""Words that a sentence which commands doesn't begin with."""
_TAKES_OVER = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\s+(?:all|any|every|the|your|my|previous|prior|earlier|above|these|"
    r"those)\b[^.!?\n]{0,40}\b(?:instruction|prompt|guideline|direction|context)s?\b|"
    r"\b(?:you\s+are|act\s+as|pretend\s+to\s+be|behave\s+as|as)\s+(?:now\s+)?(?:an?\s+|the\s+)?(?:\w+\s+)?(?:ai|llm|"
    r"chat\s?bot|language\s+model|gpt)\b|"
    r"\b(?:system|hidden|initial)\s+prompt\b|\bdo\s+anything\s+now\b|\bjailbreak|\bprompt\s+injection|"
    r"\b(?:note|attention|message|instructions?)\s+(?:to|for)\s+(?:the\s+|any\s+|all\s+)?(?:ai|llm|assistant|"
    r"(?:language\s+)?model|chat\s?bot|machine)s?\b|"
    r"\b(?:ai|llm|chat\s?bot|language)\s+(?:assistant|model|system|reader)s?\s*[:,]|"
    r"<\|\w+\|>|\[/?inst\]|<</?sys>>|^\s*(?:system|assistant)\s*:|#{2,}\s*(?:instruction|system|response)s?\s*:",
    re.IGNORECASE,
)
_WRITES = re.compile(
    rf"{_ASKED}(?:write|draft|compose|create|generate|develop|produce|provide|craft|make|give|show|tell|teach|help|offer)\s+"
    r"(?:me\b|(?:(?:an?|the|some)\s+)?(?:\w+\s+){0,3}?(?:essay|poem|story|haiku|song|joke|speech|summary|introduction|"
    r"script|code|program|translation|tweet|headline|paragraph|slogan|equivalent\s+for|example\s+of\s+how|"
    r"insights?|overview|explanation)\b)",
    re.IGNORECASE,
)
_TASK = re.compile(
    rf"{_ASKED}(?:explain|describe|summari[sz]e|translate|paraphrase|rewrite|recommend|suggest|outline|break\s+down|"
    r"analy[sz]e|classify|discuss|determine|brainstorm)\s+"
    r"(?:the|an?|how|why|what|this|some|following|main|three|five|ten|\w+ing)\b",
    re.IGNORECASE,
)
_COMPOSES = re.compile(
    rf"{_ASKED}(?:compose|draft|craft|generate)\s+(?:an?|the|some|five|ten)\b", re.IGNORECASE
)
_LETTERS = re.compile(
    rf"{_ASKED}\w+\s+(?:all\s+)?(?:vowels|consonants|(?:every|each)\s+(?:\w+\s+)?letter)\b",
    re.IGNORECASE,
)
_REPLIES = re.compile(
    rf"{_ASKED}(?:reply|respond|answer)\s+(?:only\b|using\b|as\s+an?\b|in\s+(?!writing|person|full|detail|kind|time))",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"\bhow\s+do\s+you\s+say\b|\bwhat(?:'s|’s|\s+is)\s+['\"‘“][^'\"’”]+['\"’”]\s+in\b",
    re.IGNORECASE,
)
_OURS = re.compile(r"\b(?:we|us|our|ours|your|yours)\b", re.IGNORECASE)


def addresses_machine(text: str) -> bool:
    """Whether any of its sentences talks to a machine."""
    return any(_addresses(_LEAD.sub("", sentence)) for sentence in _SENTENCE.split(text))


def _addresses(sentence: str) -> bool:
    if _TAKES_OVER.search(sentence):
        return True
    if _commands(sentence) and (
        _OUTPUT.search(sentence) or (_MESSAGE.search(sentence) and _FORM.search(sentence))
    ):
        return True
    if _OURS.search(sentence):
        return False
    return any(
        rule.search(sentence) for rule in (_WRITES, _TASK, _COMPOSES, _LETTERS, _REPLIES, _SAID)
    )


def _commands(sentence: str) -> bool:
    """Whether it seems to begin with a verb, or with where the verb's work goes."""
    first = re.match(r"\w+", sentence)
    return first is not None and first[0].lower() not in _STATES
