"""Reading results: a waiter for one query, a cursor over the result streams. Reads only, joins no group."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError
from redis import exceptions as errors

from contracts import OUTCOMES, FormattedResponse, Invalid, Unreachable
from contracts.envelope import Envelope

from .clock import time_reply_ms
from .delivery import fields_of, order_of
from .keys import Keys, lane_of_key
from .pause import Pause
from .survey import survey
from .wire import Wire, Wires, is_wrong_type, text

_RESULT: TypeAdapter[Envelope[FormattedResponse]] = TypeAdapter(Envelope[FormattedResponse])
_BLOCK_MS = 1_000
_AHEAD = 1_000
_Came = tuple[str, str, dict[bytes, bytes]]
"""Stream, entry id, fields."""
_POSITION = re.compile(r"[0-9]{1,20}(-[0-9]{1,20})?")


@dataclass(frozen=True)
class Result:
    """A result and the place behind it: pass `cursor` as `after` to go on from here."""

    cursor: str
    response: FormattedResponse


def response_of(raw: bytes, superseded: bytes | None = None) -> FormattedResponse:
    """The response in a result's envelope, with what its stream entry says it supersedes."""
    response = _RESULT.validate_json(raw).data
    if superseded is None:
        return response
    return response.model_copy(update={"supersedes": superseded.decode()})


def response_in(fields: dict[bytes, bytes]) -> FormattedResponse | None:
    """The response in a result stream's entry; None for what a stranger put there."""
    try:
        return response_of(fields.get(b"event", b""), fields.get(b"supersedes"))
    except ValidationError:
        return None


def streams_of(outcome: str, lanes: int) -> list[str]:
    """The keys of the result streams of an outcome, or of `all`; Invalid for any other name."""
    if outcome != "all" and outcome not in OUTCOMES:
        raise Invalid(f"no outcome {outcome!r}; there are: {', '.join(OUTCOMES)}, all")
    names = OUTCOMES if outcome == "all" else (outcome,)
    return [Keys(lane).of(f"results.{name}") for lane in range(lanes) for name in names]


def positions_of(after: str, streams: list[str]) -> dict[str, str]:
    """Where to read on in each stream: `0`, a stream id, or the cursor of a result; Invalid for anything else."""
    if "=" not in after:
        found = dict.fromkeys(streams, after)
    else:
        known = dict(part.rpartition("=")[::2] for part in after.split(","))
        found = {stream: known.get(stream, "0") for stream in streams}
    if not all(_POSITION.fullmatch(position) for position in found.values()):
        raise Invalid(f"no place in a stream: {after[:80]!r}; pass 0, $, or a result's cursor")
    return found


def cursor_of(positions: Mapping[str, str]) -> str:
    """The positions as one string."""
    return ",".join(f"{stream}={position}" for stream, position in positions.items())


async def latest(wire: Wire, streams: list[str]) -> dict[str, str]:
    """The last id of each stream, `0` where it is empty."""
    found = {}
    for stream in streams:
        last = await wire.call("XREVRANGE", stream, "+", "-", "COUNT", 1)
        found[stream] = text(last[0][0]) if last else "0"
    return found


async def _positions(wire: Wire, streams: list[str]) -> dict[str, str]:
    """The last id of each stream, once the server says."""
    pause = Pause()
    while True:
        try:
            return await latest(wire, streams)
        except (Unreachable, errors.ResponseError) as error:
            await _until_next_try(pause, error)


async def _until_next_try(pause: Pause, error: Exception) -> None:
    """Wait where a later try may succeed, as settling does; a refusal that lasts (an ACL's) is raised."""
    if isinstance(error, errors.ResponseError) and not is_wrong_type(error):
        raise error
    await pause.wait()


def lanes_of(streams: Iterable[str]) -> dict[int, list[str]]:
    """The streams of each lane: what one read may name, for a lane's keys lie on one server."""
    found: dict[int, list[str]] = {}
    for stream in streams:
        found.setdefault(lane_of_key(stream), []).append(stream)
    return found


async def read_results(
    wires: Wires | Mapping[int, Wire], streams: list[str], after: str
) -> AsyncGenerator[Result, None]:
    """Results as they come, for ever; a server that is gone holds up its own lanes alone, until it is back.

    So does a stream of another type, but at the start all wait for it.
    """
    by_lane = lanes_of(streams)
    if after == "$":
        positions = await _from_now_on(wires, by_lane)
    else:
        positions = positions_of(after, streams)
    came: asyncio.Queue[_Came | Exception] = asyncio.Queue(_AHEAD)
    readers = [
        asyncio.create_task(_read_lane(wires[lane], {s: positions[s] for s in named}, came))
        for lane, named in by_lane.items()
    ]
    try:
        while True:
            one = await came.get()
            if isinstance(one, Exception):
                raise one
            stream, positions[stream], fields = one
            if (response := response_in(fields)) is not None:
                yield Result(cursor_of(positions), response)
    finally:
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)


async def _from_now_on(
    wires: Wires | Mapping[int, Wire], by_lane: Mapping[int, list[str]]
) -> dict[str, str]:
    """The last id of each stream; where the lane's server is away, the time of those that answer: none comes there."""
    lanes = list(by_lane)

    async def look(number: int) -> tuple[float, dict[str, str]]:
        wire, streams = wires[lanes[number]], by_lane[lanes[number]]
        return time_reply_ms(await wire.call("TIME")), await latest(wire, streams)

    pause = Pause()
    while True:
        try:
            found, away = await survey(look, len(lanes))
        except (Unreachable, errors.ResponseError) as error:
            await _until_next_try(pause, error)
            continue
        now = f"{int(min(ms for ms, _ in found))}-0"
        positions = {stream: now for one in away for stream in by_lane[lanes[one.lane]]}
        return positions | {stream: last for _, part in found for stream, last in part.items()}


async def _read_lane(
    wire: Wire, positions: dict[str, str], came: "asyncio.Queue[_Came | Exception]"
) -> None:
    """What comes in one lane, until it is refused for good."""
    pause = Pause()
    connection = 0
    while True:
        try:
            if connection != wire.connection_number:
                await _step_back(wire, positions)
                connection = wire.connection_number
            found = await read_once(wire, positions)
        except (Unreachable, errors.ResponseError) as error:
            try:
                await _until_next_try(pause, error)
            except errors.ResponseError as lasting:
                await came.put(lasting)
                return
            continue
        pause.reset()
        for stream, entry_id, fields in found:
            positions[stream] = entry_id
            await came.put((stream, entry_id, fields))


async def _step_back(wire: Wire, positions: dict[str, str]) -> None:
    """A replica that took over may lack the last results: they come again, at ids that may be lower than ours."""
    for stream, last in (await latest(wire, list(positions))).items():
        if order_of(last) < order_of(positions[stream]):
            positions[stream] = last


async def read_once(wire: Wire, positions: Mapping[str, str]) -> list[_Came]:
    """One blocking read behind the positions: (stream, entry id, fields) in stream order."""
    reply = await wire.call(
        "XREAD", "COUNT", 500, "BLOCK", _BLOCK_MS, "STREAMS", *positions, *positions.values()
    )
    if not reply:
        return []
    parts = reply.items() if isinstance(reply, dict) else reply
    return [
        (text(stream), text(entry_id), fields_of(flat))
        for stream, entries in parts
        for entry_id, flat in entries
    ]


class Waiters:
    """Futures of queries whose results are awaited in one lane, served by one reader while there are any."""

    def __init__(self, lane: int, wire: Wire, asking: Wire) -> None:
        self._streams = streams_of("all", lane + 1)[-len(OUTCOMES) :]
        self._wire = wire
        self._asking = asking
        self._futures: dict[str, list[asyncio.Future[FormattedResponse]]] = {}
        self._positions: dict[str, str] | None = None
        self._task: asyncio.Task[None] | None = None

    async def find_position(self) -> None:
        """Wait until it is known where reading begins; what `results` waits for is waited for here too."""
        if self._positions is None:
            self._begin_at(await _positions(self._asking, self._streams))

    def _begin_at(self, positions: dict[str, str]) -> None:
        if self._positions is None:  # else another waiter was first: its reader goes on from there
            self._positions = positions

    @asynccontextmanager
    async def waiting(self, query_id: str) -> AsyncIterator["asyncio.Future[FormattedResponse]"]:
        """A future that the next result of this query resolves. Its position has to be known."""
        future: asyncio.Future[FormattedResponse] = asyncio.get_running_loop().create_future()
        self._futures.setdefault(query_id, []).append(future)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._read(), name="results")
        try:
            yield future
        finally:
            waiting = self._futures.get(query_id, [])
            if future in waiting:
                waiting.remove(future)
            if not waiting:
                self._futures.pop(query_id, None)

    async def close(self) -> None:
        """End the reader."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self) -> None:
        assert self._positions is not None
        pause = Pause()
        while self._futures:
            try:
                found = await read_once(self._wire, self._positions)
            except (Unreachable, errors.ResponseError):
                await pause.wait()  # meanwhile `result` asks for the key itself
                continue
            pause.reset()
            for stream, entry_id, fields in found:
                self._positions[stream] = entry_id
                if (response := response_in(fields)) is not None:
                    self._serve(response)
        self._positions = None

    def _serve(self, response: FormattedResponse) -> None:
        for future in self._futures.pop(response.query_id, []):
            if not future.done():
                future.set_result(response)
