"""What the exit code of a command says."""

from enum import IntEnum


class ExitCode(IntEnum):
    """The same for every command; the last four are results of `ask` and `result`."""

    ANSWERED = 0
    FAILED = 1
    USAGE = 2
    NO_SYSTEM = 3
    OUT_OF_SCOPE = 4
    REJECTED = 5
    TIMEOUT = 6
    INTERRUPTED = 130


OF_OUTCOME = {
    "answered": ExitCode.ANSWERED,
    "out_of_scope": ExitCode.OUT_OF_SCOPE,
    "rejected": ExitCode.REJECTED,
    "failed": ExitCode.FAILED,
}
