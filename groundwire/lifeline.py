"""The pipe by which a child sees that its supervisor is gone, however that ended."""

import os
import select
import threading
from collections.abc import Callable

__all__ = ["watch_lifeline"]

LOST_EXIT_CODE = 75  # EX_TEMPFAIL: ended by the lifeline's limit, not by a decision of its own


def watch_lifeline(
    fd: int, on_eof: Callable[[], object], *, limit_s: float | None = 3.0
) -> threading.Thread:
    """Call `on_eof` once, from a thread, when the other end of `fd` is closed.

    With a `limit_s` the process is ended that long after `on_eof` if it is still there: the promise
    is that nothing is left five seconds after the supervisor. `on_eof` must be thread-safe
    (`lambda: loop.call_soon_threadsafe(…)`).
    """
    os.set_inheritable(fd, False)

    def watch() -> None:
        while os.read(fd, 64):
            pass
        on_eof()
        if limit_s is not None:
            select.select([], [], [], limit_s)
            os._exit(LOST_EXIT_CODE)

    thread = threading.Thread(target=watch, name="lifeline", daemon=True)
    thread.start()
    return thread
