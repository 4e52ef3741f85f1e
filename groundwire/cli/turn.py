"""One process at a time changes a corpus; a command that would waits for its turn."""

import time
from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from .context import console_err

AGAIN_S = 0.2

Wait = Annotated[
    float,
    typer.Option(help="Seconds to wait while another process changes the corpus.", min=0.0),
]
WAIT_S = 600.0
Done = TypeVar("Done")


def in_turn(change: Callable[[], Done], wait_s: float) -> Done:
    """What a change gives, made once no other process is at it; Busy where that takes longer."""
    from groundwire.corpus import Busy

    until, is_told = time.monotonic() + wait_s, False
    while True:
        try:
            return change()
        except Busy as busy:
            if time.monotonic() >= until:
                raise
            if not is_told:
                console_err().print(
                    f"[dim]waiting for process {busy.owner}, which is changing the corpus; "
                    "Ctrl-C ends the wait[/dim]",
                    highlight=False,
                    soft_wrap=True,
                )
            is_told = True
        time.sleep(AGAIN_S)
