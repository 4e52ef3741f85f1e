"""A question as it is read: the same words without markup, invisible characters and look-alikes."""

import html
import re
import unicodedata

_TAGS = (
    "a abbr b blockquote body br button code dd del div dl dt em font form h1 h2 h3 h4 h5 h6 head "
    "hr html i iframe img input ins label li link meta ol option p pre s section select small span "
    "strong sub sup svg table tbody td textarea th thead title tr u ul"
)
_HIDDEN = re.compile(r"<(script|style)\b[^<>]*>.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
# Only HTML's own: `/v1/<workspace>/entries` and `a < b` are words of a question.
_TAG = re.compile(rf"</?(?:{_TAGS.replace(' ', '|')})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_JOINER_IN_ASCII = re.compile("(?<=[\x21-\x7e])[\u200c\u200d]+(?=[\x21-\x7e])")
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[a-zA-Z]")
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһкмтвнАВЕКМНОРСТХУІЈЅοανιρτυκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdhkmtbhABEKMHOPCTXYIJSoaviptukABEZHIKMNOPTYX",
)


def clean(text: str) -> str:
    """The text in NFC with single blanks, without HTML, control and zero-width characters.

    Full-width letters become ASCII, and so do Cyrillic and Greek look-alikes in a word that has Latin letters too:
    no language mixes them in one word.
    """
    plain = html.unescape(_TAG.sub(" ", _HIDDEN.sub(" ", text)))
    visible = "".join(_visible(char) for char in unicodedata.normalize("NFC", plain))
    joined = _JOINER_IN_ASCII.sub("", visible).translate(_FULL_WIDTH)
    return " ".join(_WORD.sub(_in_one_script, joined).split())


def _visible(char: str) -> str:
    match unicodedata.category(char):
        case "Cc":
            return " " if char.isspace() else ""
        case "Cs":
            return "\ufffd"
        case "Cf" if char not in "\u200c\u200d":  # joiners shape emoji and Indic scripts
            return ""
        case _:
            return char


def _in_one_script(found: re.Match[str]) -> str:
    word = found.group()
    if word.isascii() or not _LATIN.search(word):
        return word
    return word.translate(_LOOK_ALIKES)
