"""Which query a message is about: the one that its envelope names, and the one of what it was made of.

No answer may reach another asker, and nothing that is drafted becomes a part of the question.
"""

from collections.abc import Mapping
from typing import Any

from .answer import FormattedResponse
from .base import Value
from .query import Intent, Query

_NOTHING: Mapping[str, Any] = {}


def query_of(message: Value | None) -> Query | None:
    """The query inside a message of any stage, as far as there is one."""
    held: Any = message
    while type(held) is not Query:
        # Each hop: to ask a message for an attribute that it lacks takes pydantic six microseconds.
        inside = getattr(held, "__dict__", _NOTHING)
        found = inside.get("query") or inside.get("intent")
        if found is None:
            return held if isinstance(held, Query) else None
        held = found
    return held


def is_about(query: Query | None, subject: str) -> bool:
    """Whether the query of a message is the one that its envelope names; a message without one is about any."""
    return query is None or query.query_id == subject


def keeps_question(made: Value, given: Value, query: Query | None) -> bool:
    """Whether what a handler made is for the query that it was given, as that was understood.

    `query`: that of what it was given; its intent, where both have one, holds the query too.
    """
    if query is None:
        return True
    kept = made.__dict__.get("intent")
    if kept is not None:
        understood = given if isinstance(given, Intent) else given.__dict__.get("intent")
        if understood is not None:
            return kept is understood or bool(kept == understood)
    if type(made) is FormattedResponse:
        told = (made.query_id, made.session_id, made.channel)
        return told == (query.query_id, query.session_id, query.channel)
    asked = query_of(made)
    return asked is query or asked is None or asked == query
