"""The one tree of errors. A class exists only where a caller acts differently.

GroundwireError
├── Transient               the same call may succeed later
│   ├── Overloaded          too many open queries: come back after `retry_after_s`
│   ├── ResultTimeout       the result is not there yet; the query stays open
│   ├── NotDurable          accepted, but not known to be on disk or on a replica
│   └── Unreachable         no answer from the server
└── Permanent               the same call will fail again
    ├── Invalid             the input breaks a contract
    ├── IdempotencyConflict the key was used for another payload
    ├── NoSystem            nothing is running that could answer
    └── Misconfigured       settings, files or the environment need a human
"""


class GroundwireError(Exception):
    """Everything that Groundwire raises on purpose."""


class Transient(GroundwireError):
    """May succeed later: a handler that raises it is retried with a delay."""


class Permanent(GroundwireError):
    """Will not succeed later: a handler that raises it ends the query as failed."""


class Overloaded(Transient):
    """The system has more open queries than its mark allows; nothing was accepted."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ResultTimeout(Transient):
    """No result within the time given; the query is still open and may still be answered."""


class NotDurable(Transient):
    """The query was accepted, and the server would not confirm that it is stored for good."""

    def __init__(self, message: str, *, query_id: str) -> None:
        super().__init__(message)
        self.query_id = query_id


class Unreachable(Transient):
    """The server could not be reached, or the connection broke before its reply."""


class Invalid(Permanent):
    """The input breaks a contract: the message names the field and the rule."""


class IdempotencyConflict(Permanent):
    """The idempotency key is taken by a query with another payload."""


class NoSystem(Permanent):
    """Nothing is running here that could take the call."""


class Misconfigured(Permanent):
    """A setting, file or installed package has to be changed by a human first."""
