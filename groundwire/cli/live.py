"""What `groundwire status` shows, once or again and again: drawn from one status, and the one before it."""

from typing import TYPE_CHECKING

from .show import age

if TYPE_CHECKING:
    from rich.console import Group

    from bus import StageStatus, SystemStatus

HEADINGS = ("stage", "workers", "backlog", "pending", "delayed", "oldest")


def drawn(
    now: "SystemStatus", before: "SystemStatus | None" = None, seconds: float = 0.0
) -> "Group":
    """The status for people; with the one of `seconds` ago also how fast things move.

    Not where it is of other lanes: what these have counted isn't what has happened since.
    """
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    if before is not None and _missing(before) != _missing(now):
        before = None
    table = Table(box=None, pad_edge=False)
    for heading in HEADINGS if before is None else (*HEADINGS, "in"):
        table.add_column(heading, justify="left" if heading == "stage" else "right")
    for number, one in enumerate(now.stages):
        was = None if before is None else before.stages[number]
        table.add_row(*_row(one, was, seconds))
    ended = {} if before is None else {"accepted": before.accepted, **before.outcomes}
    counts = {"accepted": now.accepted, "open": now.open, **now.outcomes, "dead letters": now.dead}
    line = "  ".join(
        f"{name} {count}{_pace(count, ended.get(name), seconds)}" for name, count in counts.items()
    )
    faults = [
        Text(f"{name} has work and no worker: groundwire worker {name}", style="red")
        for name in now.unattended_stages
    ]
    faults += [Text(str(lane), style="red") for lane in now.unreachable]
    return Group(table, Text(), Text(line), *faults)


def _missing(status: "SystemStatus") -> list[int]:
    """Whose numbers aren't in it."""
    return [away.lane for away in status.unreachable]


def _row(one: "StageStatus", was: "StageStatus | None", seconds: float) -> list[str]:
    workers = str(one.workers) if one.workers else "[red]0[/red]"
    cells = [one.stage, workers, str(one.backlog), str(one.pending), str(one.delayed)]
    cells.append(age(one.oldest_ms))
    if was is not None:
        known = one.added is not None and was.added is not None
        cells.append(rate((one.added or 0) - (was.added or 0), seconds) if known else "-")
    return cells


def _pace(count: int, was: int | None, seconds: float) -> str:
    return "" if was is None or count == was else f" ({rate(count - was, seconds)})"


def rate(count: int, seconds: float) -> str:
    """So many in so many seconds, a second: `0/s`, `2.5/s`, `340/s`."""
    per_s = count / seconds if seconds > 0 else 0.0
    return f"{per_s:.1f}/s" if 0 < per_s < 10 else f"{per_s:.0f}/s"
