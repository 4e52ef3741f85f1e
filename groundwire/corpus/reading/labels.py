"""`labels.toml` in a folder: which labels the documents below it have, unless they name their own.

    "*" = ["public"]
    "internal/" = ["staff"]
    "legal/*.pdf" = ["staff", "legal"]

A pattern is matched with the path below the folder of the file; one that ends with `/` means all that is below. The
last one that matches holds, and the file that is nearest to a document comes before those further up.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .metadata import BadLabels, labels_of

FILE_NAME = "labels.toml"


@dataclass(frozen=True)
class FolderLabels:
    """The rules of one `labels.toml`, in their order."""

    rules: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def of(self, path: str) -> tuple[str, ...] | None:
        """The labels of a path below the folder; None if no pattern matches it."""
        found = None
        for pattern, labels in self.rules:
            if fnmatchcase(path, f"{pattern}*" if pattern.endswith("/") else pattern):
                found = labels
        return found


def parse(text: str) -> FolderLabels:
    """The rules of a file; BadLabels says what is wrong with it."""
    try:
        found: Mapping[str, object] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadLabels(f"is not TOML: {error}") from error
    rules = []
    for pattern, value in found.items():
        if not isinstance(value, list):
            raise BadLabels(f"{pattern!r}: expected a list of names")
        try:
            rules.append((pattern, labels_of(value)))
        except BadLabels as error:
            raise BadLabels(f"{pattern!r}: {error}") from error
    return FolderLabels(tuple(rules))
