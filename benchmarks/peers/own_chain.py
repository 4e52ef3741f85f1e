"""Our worker and the bare loop, with agents that do nothing: as `benchmarks.hops` measures them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import redis.asyncio as aioredis

from contracts import TOPOLOGY, Query

from .. import bare, ours
from ..child import SERVE
from .message import TEXT


async def serve(url: str, hop: int, ready: Callable[[], None], *, side: str) -> None:
    """Work as one stage, for ever."""
    await SERVE[side](url, TOPOLOGY.stages[hop].name, ready)


@asynccontextmanager
async def client(
    url: str, *, side: str
) -> AsyncIterator[Callable[[Sequence[str]], Awaitable[object]]]:
    """A publisher of queries with these ids."""
    send: Callable[[Sequence[Query]], Awaitable[object]]
    async with AsyncExitStack() as stack:
        if side == "ours":
            send = (await stack.enter_async_context(ours.client(url))).submit_many
        else:
            r = await stack.enter_async_context(aioredis.Redis.from_url(url, socket_timeout=None))
            send = partial(bare.publish, r)

        async def publish(ids: Sequence[str]) -> object:
            return await send([Query(query_id=i, text=TEXT, session_id="s-0001") for i in ids])

        yield publish
