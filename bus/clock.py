"""The server's clock, kept by an offset to the monotonic one. All deadlines are in its milliseconds."""

import time
from datetime import UTC, datetime, timedelta

from contracts.envelope import iso

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ServerClock:
    """Server time without a round trip: accurate to one, plus drift since the last `set`."""

    def __init__(self) -> None:
        self._offset_ms = time.time() * 1000 - time.monotonic() * 1000
        self._set_at: float | None = None
        self._stamped_ms, self._stamp = 0, ""

    def set(self, server_ms: float) -> None:
        """Take over what the server just said."""
        self._set_at = time.monotonic()
        self._offset_ms = server_ms - self._set_at * 1000

    def is_older_than(self, seconds: float) -> bool:
        """Whether the server has not been asked for that long, or never."""
        return self._set_at is None or time.monotonic() - self._set_at > seconds

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        return int(time.monotonic() * 1000 + self._offset_ms)

    def now(self) -> datetime:
        """The same as a datetime in UTC, to the microsecond."""
        return datetime.fromtimestamp(time.monotonic() + self._offset_ms / 1000, UTC)

    def stamp(self) -> str:
        """The same as RFC 3339 text, to the millisecond. One is made a millisecond, however many ask."""
        now_ms = self.now_ms()
        if now_ms != self._stamped_ms:
            self._stamped_ms = now_ms
            self._stamp = iso(from_ms(now_ms))
        return self._stamp


def from_ms(value: int) -> datetime:
    """Milliseconds since the epoch as a datetime in UTC."""
    return _EPOCH + timedelta(milliseconds=value)


def time_reply_ms(reply: list[bytes]) -> float:
    """The reply of TIME in milliseconds."""
    return int(reply[0]) * 1000 + int(reply[1]) / 1000
