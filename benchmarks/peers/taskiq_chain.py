"""taskiq with taskiq-redis' RedisStreamBroker, one queue and one receiver process a hop; each task kicks the next.

taskiq has no publish to a stream, so the last hop does one plain XADD: cheaper than a sixth task.
"""
# The peers are a dependency group of their own, absent where types are checked.
# mypy: disable-error-code="import-not-found, untyped-decorator"

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import redis.asyncio as aioredis
from taskiq.api import run_receiver_task
from taskiq_redis import RedisStreamBroker

from .message import HOPS, RESULTS, Message, step

_KICKS_AT_ONCE = 32  # taskiq has no bulk call


def _broker(url: str, hop: int) -> RedisStreamBroker:
    # RedisStreamBroker without result backend: README of taskiq-redis, "Stream",
    # https://github.com/taskiq-python/taskiq-redis#readme; the settings: its docstring.
    return RedisStreamBroker(
        url,
        queue_name=f"taskiq:{hop}",
        consumer_group_name=f"g{hop}",
        xread_count=100,
        idle_timeout=5000,
        unacknowledged_lock_timeout=5,
    )


def _task(url: str, hop: int) -> tuple[RedisStreamBroker, Any]:
    """A hop's broker and task; a task knows the next one by its own copy."""
    broker = _broker(url, hop)
    following = _broker(url, hop + 1) if hop + 1 < HOPS else None
    plain = aioredis.Redis.from_url(url)

    @broker.task(task_name=f"hop{hop}")
    async def work(message: Message) -> None:
        done = step(message, hop)
        if following_task is not None:
            await following_task.kiq(done)
        else:
            await plain.xadd(RESULTS, {"d": done.model_dump_json()})

    following_task = _named(following, hop + 1) if following else None
    return broker, work


def _named(broker: RedisStreamBroker, hop: int) -> Any:
    """A task to be kicked, not run, here."""

    @broker.task(task_name=f"hop{hop}")
    async def elsewhere(message: Message) -> None:
        raise AssertionError("another process runs it")

    return elsewhere


async def serve(url: str, hop: int, ready: Callable[[], None]) -> None:
    """Work as one hop, for ever."""
    broker, _ = _task(url, hop)
    await broker.startup()
    ready()
    # The receiver in code, so that a hop is one process: "Dynamic Environments",
    # https://taskiq-python.github.io/guide/dynamic-brokers.html
    # max_async_tasks, max_prefetch: "CLI", Other parameters, https://taskiq-python.github.io/guide/cli.html;
    # prefetching 100 was slower.
    await run_receiver_task(broker, max_async_tasks=100, max_prefetch=0)


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Callable[[Sequence[str]], Awaitable[object]]]:
    """A publisher that kicks the first task, some at once."""
    broker = _broker(url, 0)
    first, slots = _named(broker, 0), asyncio.Semaphore(_KICKS_AT_ONCE)

    async def kick(query_id: str) -> None:
        async with slots:
            await first.kiq(Message(query_id=query_id))

    async def publish(ids: Sequence[str]) -> None:
        if len(ids) == 1:
            await first.kiq(Message(query_id=ids[0]))
        else:
            await asyncio.gather(*map(kick, ids))

    yield publish
    await broker.shutdown()
