"""The bus tells what happened by calling this; who listens is the caller's choice."""

from typing import Protocol


class Log(Protocol):
    """A state change: a fixed name and its fields. Never the text of a question."""

    def __call__(self, event: str, /, **fields: object) -> None:
        """Take note."""
        ...


def no_log(event: str, /, **fields: object) -> None:
    """Nobody listens."""
