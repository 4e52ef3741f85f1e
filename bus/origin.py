"""Where the traces of queries begin: a client asks whoever traces it for a context for each query that it submits."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from contracts import Query


class Context(NamedTuple):
    """What a message carries of its trace, in the words of W3C Trace Context."""

    traceparent: str
    tracestate: str | None


class Sending(Protocol):
    """One call of submit, while it lasts."""

    @property
    def contexts(self) -> Sequence[Context | None]:
        """One for each query; None: it keeps what it has."""
        ...

    def accepted(self, query_ids: Sequence[str], /) -> None:
        """All are, and these are their ids."""
        ...


class Origin(Protocol):
    """Who traces a client."""

    def sending(self, stream: str, queries: Sequence[Query], /) -> AbstractContextManager[Sending]:
        """These queries go to a stream."""
        ...
