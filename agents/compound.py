"""A question that asks several things, taken apart. Pure grammar: who calls decides whether the parts differ."""

import re

MOST_PARTS = 4
_OPENERS = (
    "how|what|when|where|who|which|why|whose|is|are|am|do|does|did|can|could|will|would|should|may|"
    "must|has|have"
)
_WHAT = "what|when|where|which|whom|whose|how"
_BEFORE = (
    "about|after|at|before|between|by|during|for|from|in|on|since|till|to|until|under|with|within"
)
"""A question may begin with one of them and then with one of `_WHAT`: "until when may I …"."""
_SENTENCE = re.compile(r"(?<=[?!;])\s+|(?<=[.])\s+(?=[A-Z])")
_CLAUSE = re.compile(
    rf"\s*(?:,|;)?\s+(?:and|also|plus|or)\s+(?:also\s+)?"
    rf"(?=(?:(?:{_OPENERS})(?:'s)?|(?:{_BEFORE})\s+(?:{_WHAT}))\s)",
    re.IGNORECASE,
)
_LEAD = r"(?:(?:what|which|where|how)(?:'s|\s+is|\s+are|\s+about)|tell me|explain|show me)"
_PAIR = re.compile(
    rf"^(?P<lead>{_LEAD}(?:\s+about)?(?:\s+(?:the|your|our|my))?)\s+(?P<one>[^,?]{{1,80}}?)\s+and\s+"
    r"(?:(?:the|your|our|my)\s+)?(?P<two>[^,?]{1,80}?)"
    r"(?P<tail>\s+(?:for|of|on|with|in|to|if|when|at|after|before)\s[^?]*)?(?P<end>\??)$",
    re.IGNORECASE,
)


def split(text: str) -> tuple[str, ...]:
    """The questions in a text, at most MOST_PARTS, each whole by itself; empty where it is only one."""
    parts = [
        part
        for sentence in _SENTENCE.split(text)
        for clause in _CLAUSE.split(sentence)
        for part in _pair(clause.strip())
        if part
    ]
    return tuple(parts[:MOST_PARTS]) if len(parts) > 1 else ()


def _pair(clause: str) -> tuple[str, ...]:
    """`What is the cost and refund policy for X?` as one question for each."""
    found = _PAIR.match(clause)
    if found is None:
        return (clause,)
    lead, tail, end = found["lead"], found["tail"] or "", found["end"]
    return tuple(f"{lead} {found[one]}{tail}{end}" for one in ("one", "two"))
