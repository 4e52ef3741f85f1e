"""A bar with rate and remaining time on standard error, where a person watches; nothing elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .context import console_err

if TYPE_CHECKING:
    from groundwire.corpus import Progress

SHORTEST_S = 0.1
"""Between two looks at the bar: no eye sees more."""


@contextmanager
def progress_bar() -> Iterator[Callable[["Progress"], None]]:
    """What is told of a step is shown; the bar is gone at the end."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    err = console_err()
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("starting", total=None, rate="")
        shown = 0.0

        def show(progress: "Progress") -> None:
            nonlocal shown
            known, now = bar.tasks[0], time.monotonic()
            is_new = progress.step != known.description
            if not is_new and now - shown < SHORTEST_S and progress.done != progress.total:
                return  # its rate alone costs a quarter of a millisecond
            shown = now
            if is_new:
                bar.reset(task, description=progress.step, rate="")
            rate = f"{known.speed:.0f}/s" if known.speed else ""
            bar.update(task, completed=progress.done, total=progress.total or None, rate=rate)

        yield show
