"""docket, one docket and one worker process a hop; each task adds the next to the next docket.

docket has no publish to a stream, so the last hop does one plain XADD: cheaper than a sixth task.
"""
# The peers are a dependency group of their own, absent where types are checked.
# mypy: disable-error-code="import-not-found, untyped-decorator"

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import redis.asyncio as aioredis
from docket import Docket, Worker

from .message import HOPS, RESULTS, Message, step


def _docket(url: str, hop: int) -> Docket:
    # All settings here: "Docket in Production", https://docket.lol/en/latest/production/
    # execution_ttl=0: its Fire-and-Forget Mode, "for maximum throughput".
    # max_connections: its Redis Connection Pools; the pool's 100 are too few for publishing.
    return Docket(name=f"docket{hop}", url=f"{url}?max_connections=300", execution_ttl=timedelta(0))


async def _elsewhere(message: Message) -> None:
    """A task to be added, not run, here."""
    raise AssertionError("another process runs it")


async def serve(url: str, hop: int, ready: Callable[[], None]) -> None:
    """Work as one hop, for ever."""
    async with AsyncExitStack() as stack:
        docket = await stack.enter_async_context(_docket(url, hop))
        following = None
        if hop + 1 < HOPS:
            following = await stack.enter_async_context(_docket(url, hop + 1))
            following.register(_elsewhere, names=["hop"])
        plain = aioredis.Redis.from_url(url)

        async def work(message: Message) -> None:
            done = step(message, hop)
            if following is not None:
                await following.add("hop")(done)
            else:
                await plain.xadd(RESULTS, {"d": done.model_dump_json()})

        docket.register(work, names=["hop"])
        worker = Worker(
            docket,
            # Core Settings; 20 with 10 ms and 100 with 100 ms were no gain.
            concurrency=50,
            minimum_check_interval=timedelta(milliseconds=100),
            redelivery_timeout=timedelta(seconds=5),
        )
        await stack.enter_async_context(worker)
        ready()
        await worker.run_forever()


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Callable[[Sequence[str]], Awaitable[object]]]:
    """A publisher: one message by `add`, several by `add_many` (its docstring)."""
    async with _docket(url, 0) as docket:
        docket.register(_elsewhere, names=["hop"])

        async def publish(ids: Sequence[str]) -> None:
            if len(ids) == 1:
                await docket.add("hop")(Message(query_id=ids[0]))
            else:
                await docket.add_many(
                    [docket.call("hop")(Message(query_id=query_id)) for query_id in ids]
                )

        yield publish
