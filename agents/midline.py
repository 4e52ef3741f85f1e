"""Where in a line an instruction may begin though no sentence ended before it: behind an item, a heading, a cell. Pure.

By form alone: one of some verbs with a capital letter, behind a word that can end what stands there and before words
with small ones. What is said there is judged elsewhere.
"""

import re
from collections.abc import Iterator

_PLACE = re.compile(
    r"[\w%)\]\"'”’*_`|,;–—-][ \t]+"
    r"(?=[*_\"'“‘(]{0,3}(?P<verb>[A-Z][a-z]+)\b(?:['’]s)?[ \t]+[^\sA-Z])"
)
_LAST = re.compile(r"([^\W_]+)[\W_]*\Z")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_REACH = 40
_OPEN = (
    "a an and are as at be been but by can could do does for from had has have he her his how i if in is it its "
    "may might must my no nor not o of on or our shall she should so than that the their then these they this "
    "those to under use using was we were what when where which who whose why will with would you your called "
    "choose click enter hit named press run see select tap type"
)
_LEAVES_OPEN = frozenset(_OPEN.split())
"""Words that nothing ends with: a capital letter behind one makes a name, of a button or a page."""


def places(text: str, verbs: frozenset[str]) -> Iterator[int]:
    """The characters where one of the verbs, which are in lower case, may begin an instruction."""
    for found in _PLACE.finditer(text):
        if found["verb"].lower() in verbs and _may_end(text, found.start() + 1):
            yield found.end()


def _may_end(text: str, end: int) -> bool:
    last = _LAST.search(text, max(0, end - _REACH), end)
    if last is None or _COMMIT.fullmatch(last[1]):
        return False
    return last[1].lower() not in _LEAVES_OPEN
