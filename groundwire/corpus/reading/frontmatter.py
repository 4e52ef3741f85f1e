"""The front matter of a Markdown page, in YAML or TOML: the few keys we read, and where the page begins."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from .metadata import BadLabels, iso_date, labels_of, language_code

_BLOCK = re.compile(
    r"\A(?:---[ \t]*\n(?P<yaml>.*?\n)??(?:---|\.\.\.)|\+\+\+[ \t]*\n(?P<toml>.*?\n)??\+\+\+)[ \t]*(?:\n|\Z)",
    re.DOTALL,
)
_LABELS = re.compile(r"^[ \t\"']*labels?\b", re.MULTILINE | re.IGNORECASE)

PUBLISHED = ("published", "date", "created")
MODIFIED = ("modified", "updated", "lastmod", "last_modified", "last_updated")


@dataclass(frozen=True)
class FrontMatter:
    """What a page says of itself; `body_start` is where its text begins. `fault`: why it can't be read."""

    body_start: int = 0
    title: str | None = None
    labels: tuple[str, ...] | None = None
    published: str | None = None
    modified: str | None = None
    language: str | None = None
    fault: str | None = None


def read(text: str) -> FrontMatter:
    """The front matter of a page; BadLabels when it has labels that can't be read."""
    block = _BLOCK.match(text)
    if block is None:
        return FrontMatter()
    import yaml  # late: most processes read no documents

    try:
        values = _values(block)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, RecursionError) as error:
        fault = f"its front matter can't be read: {' '.join(str(error).split())[:200]}"
        if _LABELS.search(block[0]):
            raise BadLabels(fault) from error
        return FrontMatter(block.end(), fault=fault)
    title = values.get("title")
    labels = values.get("labels", values.get("label"))
    return FrontMatter(
        block.end(),
        title.strip() or None if isinstance(title, str) else None,
        None if labels is None else labels_of(labels),
        _first_date(values, PUBLISHED),
        _first_date(values, MODIFIED),
        language_code(values.get("language", values.get("lang"))),
    )


def _values(block: re.Match[str]) -> Mapping[str, object]:
    """The keys in lower case; scalars of YAML stay texts, so that no label turns into a truth."""
    if (toml := block["toml"]) is not None:
        found: object = tomllib.loads(toml)
    else:
        import yaml

        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        found = yaml.load(block["yaml"] or "", Loader=loader)  # noqa: S506 - it knows texts only
    if not isinstance(found, dict):
        return {}
    return {str(key).lower(): value for key, value in found.items()}


def _first_date(values: Mapping[str, object], keys: tuple[str, ...]) -> str | None:
    dates = (iso_date(values[key]) for key in keys if key in values)
    return next((found for found in dates if found), None)
