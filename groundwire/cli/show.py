"""How results, traces and tables look in a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from contracts import FormattedResponse

if TYPE_CHECKING:
    from bus import Seen

_COLOURS = {
    "approved": "green",
    "approved_fallback": "yellow",
    "clarification_needed": "cyan",
    "out_of_scope": "yellow",
    "rejected": "red",
    "failed": "red",
}


def response_text(response: FormattedResponse) -> str:
    """The response as marked-up text: its status, then what the asker is told."""
    colour = _COLOURS[response.status]
    return f"[{colour}]{response.status}[/{colour}]\n\n{escape(response.display_text)}"


def trace_table(events: Sequence["Seen"]) -> Table:
    """The hops of a query: times, attempt, ids and scores, never a text."""
    table = Table(box=None, pad_edge=False)
    for column in ("stage", "outcome", "attempt", "waited", "took", "message out", "scores"):
        table.add_column(column, overflow="fold")
    for seen in events:
        event = seen.event
        scores = " ".join(f"{name} {value:.3g}" for name, value in event.scores.items())
        why = " ".join(part for part in (event.reason, event.error) if part)
        table.add_row(
            escape(event.stage),
            escape(f"{event.outcome} {why}".strip()),
            str(event.attempt),
            f"{event.waited_us / 1000:.0f} ms",
            f"{event.handled_us / 1000:.1f} ms",
            escape(f"{event.output_digest[:8]} {event.output_bytes} B"),
            escape(scores),
        )
    return table


def age(milliseconds: int | None) -> str:
    """An age for people: `-`, `250 ms`, `12 s`, `3 min`."""
    if milliseconds is None:
        return "-"
    if milliseconds < 1_000:
        return f"{milliseconds} ms"
    if milliseconds < 120_000:
        return f"{milliseconds / 1000:.0f} s"
    return f"{milliseconds / 60_000:.0f} min"
