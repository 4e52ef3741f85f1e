"""Waiting between tries that go on for ever."""

import asyncio


class Pause:
    """50 ms doubling to 1 s, until something works again."""

    def __init__(self, first_s: float = 0.05, cap_s: float = 1.0) -> None:
        self._first_s = first_s
        self.cap_s = cap_s
        self._next_s = first_s

    async def wait(self) -> None:
        """Sleep, longer each time."""
        delay, self._next_s = self._next_s, min(self.cap_s, self._next_s * 2)
        await asyncio.sleep(delay)

    def reset(self) -> None:
        """It worked: the next pause is short again."""
        self._next_s = self._first_s
