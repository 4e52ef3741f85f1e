"""What sources say of themselves, in one form: labels, dates, languages."""

import re
from datetime import date, datetime

MAX_LABEL_CHARS = 200
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}$")


class BadLabels(ValueError):
    """The labels can't be read: what carries them must not be taken for public."""


def labels_of(value: object) -> tuple[str, ...]:
    """A list of names, or one text of names with commas between; BadLabels if it is anything else."""
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list) or not names:
        raise BadLabels(f"labels: expected a list of names, found {str(value)[:80]!r}")
    labels = tuple(name.strip() if isinstance(name, str) else "" for name in names)
    if not all(
        0 < len(label) <= MAX_LABEL_CHARS and not set(label) & set("[]{}:#") for label in labels
    ):
        raise BadLabels(f"labels: expected a list of names, found {str(value)[:80]!r}")
    return labels


def iso_date(value: object) -> str | None:
    """A day or a moment as ISO 8601; None if it is neither."""
    if not isinstance(value, str):
        return value.isoformat() if isinstance(value, date) else None
    text = value.strip()
    try:
        return (date if _DAY.match(text) else datetime).fromisoformat(text).isoformat()
    except ValueError:
        return None


def language_code(value: object) -> str | None:
    """The language of a tag such as `en-GB`; None if it is none."""
    code = value.strip().replace("_", "-").split("-")[0].lower() if isinstance(value, str) else ""
    return code if code.isascii() and code.isalpha() and len(code) in (2, 3) else None
