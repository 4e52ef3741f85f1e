"""HTML from text that may hold anything: whatever isn't made here is escaped."""

from html import escape
from unicodedata import category

_EMPTY = frozenset({"meta", "link", "br"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: str) -> Markup:
    """An element. `class_` is `class`; an underscore in a name is a hyphen."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_text(value)}"'
        for key, value in attributes.items()
    )
    if name in _EMPTY:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{together(*children)}</{name}>")


def together(*children: str) -> Markup:
    """One after the other."""
    return Markup(
        "".join(child if isinstance(child, Markup) else _text(child) for child in children)
    )


def _text(text: str) -> str:
    """Escaped, and without what no HTML may hold: control characters, half surrogate pairs."""
    return escape("".join("\ufffd" if _is_forbidden(sign) else sign for sign in text))


def _is_forbidden(sign: str) -> bool:
    return category(sign) in ("Cc", "Cs") and sign not in "\n\t"
