"""A question that asks several things, taken apart. Pure grammar: who calls decides whether the parts differ."""

import re
from collections.abc import Iterator

MOST_PARTS = 4
_OPENERS = (
    "how|what|when|where|who|which|why|whose|is|are|am|do|does|did|can|could|will|would|should|may|"
    "must|has|have"
)
_ORDERS = "describe|explain|give me|list|name|show me|tell me"
_WHAT = "what|when|where|which|whom|whose|how"
_BEFORE = (
    "about|after|at|before|between|by|during|for|from|in|on|since|till|to|until|under|with|within"
)
"""A question may begin with one of them and then with one of `_WHAT`: "until when may I …"."""
_SPEAKER = r"(?:I|we|my|our)(?:['’](?:m|ve|d|re|ll))?"
_ASKS = rf"(?:(?:{_OPENERS})(?:['’]s)?|(?:{_BEFORE})\s+(?:{_WHAT})|{_ORDERS})\s"
"""How a question begins."""
_TOLD = rf"(?:if|{_SPEAKER})\s[^,?]+,\s+{_ASKS}"
"""A circumstance first, and then what is asked about it."""
_AND = r"(?:and\s+also|as\s+well\s+as|and|plus)"
_SENTENCE = re.compile(
    rf"(?<=[?!;])\s+|(?<=[.])\s+(?=(?i:{_ASKS}|{_SPEAKER}\s))|(?<=\w{{3}}[.])\s+(?=[A-Z])"
)
"""Few abbreviations have three letters before their dot."""
_CLAUSE = re.compile(
    rf"\s*(?:,|;)?\s+(?:{_AND}|also|or)\s+(?:also\s+)?(?={_ASKS}|{_TOLD})", re.IGNORECASE
)
_QUESTION = re.compile(rf"^(?:(?:and|also|or|plus|but|so|then),?\s+)*{_ASKS}", re.IGNORECASE)
_STATEMENT = re.compile(rf"^{_SPEAKER}\s[^,?]+$", re.IGNORECASE)
_BEFORE_ASKING = re.compile(rf"^{_SPEAKER}\s[^,?]+,\s+(?={_ASKS})", re.IGNORECASE)
_MINE = "the|your|our|my"
_TAIL = r"\s+(?:for|of|on|with|in|to|if|when|at|after|before)\s[^?]*"
_NAMED = (
    r"(?:(?:what|which|where|how)(?:['’]s|\s+is|\s+are|\s+about)|tell me|explain|show me)"
    rf"(?:\s+about)?(?:\s+(?P<mine>{_MINE}))?"
)
_SUBJECT = "I|we|you|it|they|he|she|there"
_DONE = (
    rf"(?:(?:{_WHAT}|why)\s+)?(?:do|does|did|can|could|will|would|should|may|must)\s+(?:{_SUBJECT})"
)
_PAIR = re.compile(
    rf"^(?P<lead>{_NAMED})\s+(?P<one>[^,?]{{1,80}}?),?\s+{_AND}\s+"
    rf"(?:(?P<other>{_MINE})\s+)?(?P<two>[^,?]{{1,80}}?)(?P<tail>{_TAIL})?(?P<end>\??)$",
    re.IGNORECASE,
)
_DEEDS = re.compile(
    rf"^(?P<lead>{_DONE})\s+(?P<one>\w[^,?]{{0,80}}?\s[^,?]{{1,80}}?),?\s+{_AND}\s+"
    r"(?P<two>\w[^,?]{0,80}?\s[^,?]{1,80}?)(?P<end>\??)$",
    re.IGNORECASE,
)
"""Two deeds of one subject, each with what it is done to: `pause and resume my plan` is one."""
_BOTH = re.compile(r"\b(?:between|both)\b", re.IGNORECASE)
"""What speaks of two things together asks one thing."""


def split(text: str) -> tuple[str, ...]:
    """The questions in a text, at most MOST_PARTS, each whole by itself; empty where it is only one."""
    parts = [
        part
        for sentence in _sentences(text)
        for clause in _clauses(sentence)
        for part in _pair(clause)
        if part
    ]
    return tuple(parts[:MOST_PARTS]) if len(parts) > 1 else ()


def alone(text: str) -> tuple[str, ...]:
    """The only question of a text without what its speaker tells before or after it; empty where nothing is told."""
    sentences = [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]
    asking = [one for one in sentences if _asks(one)]
    if len(asking) != 1:
        return ()
    bare = _BEFORE_ASKING.sub("", asking[0])
    return (bare,) if bare != text else ()


def _asks(sentence: str) -> bool:
    return sentence.rstrip().endswith("?") or _QUESTION.match(sentence) is not None


def _sentences(text: str) -> Iterator[str]:
    """The sentences, where one that asks nothing stays with the next, of which it tells the circumstances."""
    held = ""
    for sentence in _SENTENCE.split(text):
        held = f"{held} {sentence}".strip()
        if _asks(sentence):
            yield held
            held = ""
    if held:
        yield held


def _clauses(sentence: str) -> Iterator[str]:
    """The clauses that ask; what the speaker only states stays with the next."""
    begin = 0
    for joint in _CLAUSE.finditer(sentence):
        clause = sentence[begin : joint.start()].strip()
        if not _STATEMENT.match(clause):
            yield clause
            begin = joint.end()
    yield sentence[begin:].strip()


def _pair(clause: str) -> tuple[str, ...]:
    """`What is the cost and refund policy for X?` as one question for each."""
    found = _PAIR.match(clause) or _DEEDS.match(clause)
    if found is None or _BOTH.search(clause):
        return (clause,)
    told = {"mine": None, "other": None, "tail": None} | found.groupdict()
    lead, end, tail = told["lead"], told["end"], told["tail"] or ""
    # "your target and the price of a seat": what another word points at has a tail of its own.
    shared = tail if told["other"] in (None, told["mine"]) else ""
    return f"{lead} {told['one']}{shared}{end}", f"{lead} {told['two']}{tail}{end}"
