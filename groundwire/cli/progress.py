"""A bar with rate and remaining time on standard error, where a person watches; nothing elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .context import console_err

if TYPE_CHECKING:
    from groundwire.corpus import Progress


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

        def show(progress: "Progress") -> None:
            known = bar.tasks[0]
            if progress.step != known.description:
                bar.reset(task, description=progress.step, rate="")
            rate = f"{known.speed:.0f}/s" if known.speed else ""
            bar.update(task, completed=progress.done, total=progress.total or None, rate=rate)

        yield show
