"""Whether a text talks to a machine that reads it: instructions that somebody planted for a language model. Pure.

By form alone. Nothing here could be made to follow such text; it is told so that nobody takes it for the document's
own word. Rules were written on BIPIA's training attacks and tried on documents that hold none.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from .midline import places

_SENTENCE = re.compile(r"(?<=[.!?:])(?:[\"'”’)\]]+\s+(?![a-z])|\s+)|\n+")
_LEAD = re.compile(r"^[\s>*_#\"'“”‘’(\[|`•–—-]*(?:\d+[.)]\s+)?")
_FIRST = re.compile(r"\w+")
_LONGEST = 1_000
"""Characters of an instruction that goes on in a line; what is longer took too long to try at each of its words."""
_CLOSED = re.compile(r"[.!?:][\s\"'”’)*_\]|]*\Z")
_COURTESIES = "please|kindly|now|also|then|and|next|finally|first|so|just|instead"
_WOULD_YOU = "can|could|would|will"
_POLITE = rf"(?:(?:{_COURTESIES})\W+)*"
_ASKED = rf"^{_POLITE}(?:(?:{_WOULD_YOU})\s+you\s+(?:please\s+|also\s+)?)?"
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
    r"those)\b[^.!?\n]{0,40}\b(?:instruction|prompt|guideline|direction|context)s?\b",
    re.IGNORECASE,
)
_MACHINE = re.compile(
    r"\b(?:(?:you\s+are|act\s+as|pretend\s+to\s+be|behave\s+as)\s+(?:now\s+)?(?:an?\s+|the\s+)?|as\s+an?\s+)"
    r"(?:\w+\s+)?(?:ai|llm|chat\s?bot|language\s+model|gpt)\b|"
    r"\b(?:system|hidden|initial)\s+prompt\b|\bdo\s+anything\s+now\b|\bjailbreak|\bprompt\s+injection|"
    r"\b(?:note|attention|message|instructions?)\s+(?:to|for)\s+(?:the\s+|any\s+|all\s+)?(?:ai|llm|assistant|"
    r"(?:language\s+)?model|chat\s?bot|machine)s?\b|"
    r"^(?:dear|hello|hey|hi|attention)?\W*(?:ai|llm|chat\s?bot|language)\s+(?:assistant|model|system|reader)s?\s*[:,]|"
    r"<\|\w+\|>|\[/?inst\]|<</?sys>>|^\s*(?:system|assistant)\s*:(?!:)|#{2,}\s*(?:instruction|system|response)s?\s*:",
    re.IGNORECASE,
)
_WRITE = "write|draft|compose|create|generate|develop|produce|provide|craft|make|give|show|tell|teach|help|offer"
_WRITES = re.compile(
    rf"{_ASKED}(?:{_WRITE})\s+"
    r"(?:me\b|(?:(?:an?|the|some)\s+)?(?:\w+\s+){0,3}?(?:essay|poem|story|haiku|song|joke|speech|summary|introduction|"
    r"script|code|program|translation|tweet|headline|paragraph|slogan|equivalent\s+for|example\s+of\s+how|"
    r"insights?|overview|explanation)\b)",
    re.IGNORECASE,
)
_DO = (
    "explain|describe|summarise|summarize|translate|paraphrase|rewrite|recommend|suggest|outline|analyse|analyze|"
    "classify|discuss|determine|brainstorm"
)
_TASK = re.compile(
    rf"{_ASKED}(?:{_DO}|break\s+down)\s+"
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
_OPENINGS = frozenset("|".join((_COURTESIES, _WOULD_YOU, _WRITE, _DO, "break")).split("|"))
_CHANGES = (
    "act add alter anagram answer append augment begin behave bypass change close combine conclude convert "
    "disregard embed emphasise emphasize encode encrypt end enhance express finish forget group hide highlight "
    "hint ignore include incorporate insert integrate introduce jumble link mention misspell mix modify omit "
    "override place praise prefix pretend promote put rearrange remind remove render repeat rephrase replace "
    "reply respond reverse say scramble shift shuffle sign spell split sprinkle start state stress substitute "
    "swap transform turn urge use weave wrap"
)
_VERBS = _OPENINGS.union(_CHANGES.split(), ("how", "in", "what"))
"""What an instruction begins with that goes on in a line behind something else."""
_HINTS = (
    "respon", "answer", "reply", "replies", "output", "completion", "generation", "message",
    "instruction", "prompt", "guideline", "direction", "context",
    " ai", "llm", "bot", "gpt", "model", "machine", "assistant", "system", "reader", "anything now", "jailbreak",
    "<|", "inst]", "sys>", "vowel", "consonant", "letter", "how do you say", "what's", "what’s", "what is",
)  # fmt: skip
"""Whatever a rule tells begins with one of `_OPENINGS` or holds one of these, in lower case."""


def addresses_machine(text: str) -> bool:
    """Whether any of its sentences talks to a machine."""
    return next(addressed_at(text), None) is not None


def addressed_at(text: str) -> Iterator[int]:
    """Where each of its sentences that talk to a machine begins, behind the marks before it, in order."""
    return (start for start, one in _suspects(text) if _orders(one) or _might_address(one))


def orders_machine(text: str) -> bool:
    """Whether any of its sentences can be meant for a machine alone, whatever stands around it."""
    return any(_orders(sentence) for _, sentence in _suspects(text))


def passes_for_ours(text: str, above: str) -> bool:
    """Whether a quote would put a stranger's word into our mouth: in itself, or in the title and headings above it.

    Those are read more leniently: many a page of instructions is headed by an order to people.
    """
    return addresses_machine(text) or orders_machine(above)


def _suspects(text: str) -> Iterator[tuple[int, str]]:
    """The sentences that a rule may tell, each behind its place: nearly none, which makes reading a document quick."""
    whole = text.lower()
    hints = [hint for hint in _HINTS if hint in whole]
    for start, end in _sentences(text):
        bare = _LEAD.sub("", text[start:end])
        low = bare.lower()
        first = _FIRST.match(low)
        if (first is not None and first[0] in _OPENINGS) or any(hint in low for hint in hints):
            yield end - len(bare), bare


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where they are; what goes on in a line and talks to a machine by itself is one of its own."""
    inside = list(places(text, _VERBS))
    begin = 0
    for found in [*_SENTENCE.finditer(text), None]:
        end = found.start() if found else len(text)
        for at in inside[bisect_right(inside, begin) : bisect_left(inside, end)]:
            if end - at <= _LONGEST and _stands_alone(text[at:end]):
                yield begin, at
                begin = at
        yield begin, end
        begin = found.end() if found else len(text)


def _stands_alone(text: str) -> bool:
    """Whether it is told by itself; what people also write to people only where it ends as a sentence does."""
    bare = _LEAD.sub("", text)
    return _orders(bare) or (_CLOSED.search(bare) is not None and _might_address(bare))


def _orders(sentence: str) -> bool:
    """About earlier instructions, or about what the reader shall write."""
    if not _commands(sentence):
        return False
    if _TAKES_OVER.search(sentence) or _OUTPUT.search(sentence):
        return True
    return _MESSAGE.search(sentence) is not None and _FORM.search(sentence) is not None


def _might_address(sentence: str) -> bool:
    """What people also write to people: a task, or a word on machines."""
    if _TAKES_OVER.search(sentence) or _MACHINE.search(sentence):
        return True
    if _OURS.search(sentence):
        return False
    return any(
        rule.search(sentence) for rule in (_WRITES, _TASK, _COMPOSES, _LETTERS, _REPLIES, _SAID)
    )


def _commands(sentence: str) -> bool:
    """Whether it seems to begin with a verb, or with where the verb's work goes."""
    first = _FIRST.match(sentence)
    return first is not None and first[0].lower() not in _STATES
