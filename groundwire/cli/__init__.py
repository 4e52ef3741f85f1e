"""The command line: one file per command. `main` is the entry point."""

import os
import signal
import sys

from groundwire.owners import foreign_owner
from groundwire.threads import compute_on_one

from .codes import ExitCode


def main() -> None:
    """Check who owns our import names, then run the command."""
    stranger = foreign_owner()
    if stranger is not None:
        sys.stderr.write(f"groundwire: {stranger}\n")
        sys.exit(ExitCode.USAGE)
    compute_on_one()
    if (
        os.getpid() == 1
    ):  # of a container: the kernel keeps from it every signal that it has no handler for
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        from .app import run

        sys.exit(run())
    except KeyboardInterrupt:  # while still importing
        sys.exit(ExitCode.INTERRUPTED)


__all__ = ["main"]
