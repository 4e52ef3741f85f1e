"""Waiting for the result of one query, in the lane that has it: its key, and whoever reads the result streams there."""

import asyncio

from redis import exceptions as errors

from contracts import FormattedResponse, Unreachable
from contracts.ids import lanes_of_query

from .backend import Backend
from .config import BusConfig
from .keys import Keys
from .results import Waiters, response_in
from .wire import Wires, is_wrong_type

_RECHECK_S = 2.0


class Awaiting:
    """A client's waiting, with a connection of its own for each lane's streams."""

    def __init__(self, backend: Backend, wires: Wires, config: BusConfig) -> None:
        self._config = config
        self._wires = wires
        self._reading = Wires(backend, config.reply_timeout_s + 1.0)
        self._waiters: dict[int, Waiters] = {}

    async def close(self) -> None:
        """End all waiting, and close what reads."""
        for waiters in self._waiters.values():
            await waiters.close()
        await self._reading.close()

    async def result(self, query_id: str) -> FormattedResponse:
        """The result, from whichever lane has it."""
        lanes = lanes_of_query(query_id, self._config.lanes)
        if len(lanes) == 1:
            return await self._result(lanes[0], query_id)
        waiting = [asyncio.create_task(self._result(lane, query_id)) for lane in lanes]
        try:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            return done.pop().result()
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def _result(self, lane: int, query_id: str) -> FormattedResponse:
        key = Keys(lane).result(query_id)
        waiters = self._waiters.get(lane)
        if waiters is None:
            waiters = self._waiters[lane] = Waiters(lane, self._reading[lane], self._wires[lane])
        await waiters.find_position()
        async with waiters.waiting(query_id) as future:
            while not future.done():
                raw = await self._stored(lane, key)
                # What else lies there is a stranger's: the result will overwrite it.
                if raw is not None and (found := response_in({b"event": raw})) is not None:
                    return found
                await asyncio.wait([future], timeout=_RECHECK_S)
            return future.result()

    async def _stored(self, lane: int, key: str) -> bytes | None:
        """The result key; None also while the server is away, for it comes back, and over a stranger's list."""
        try:
            raw: bytes | None = await self._wires[lane].call("GET", key)
        except Unreachable:
            return None
        except errors.ResponseError as error:
            if is_wrong_type(error):
                return None  # the result will overwrite it
            raise
        return raw
