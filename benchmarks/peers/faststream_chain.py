"""FastStream over Redis streams, one process a hop: a handler call a message, or a batch subscriber and a pipeline.

Without the claiming subscriber that recovers a dead worker's messages ("Redis Stream Message Claiming"): it would
only cost here.
"""
# The peers are a dependency group of their own, absent where types are checked.
# No logger is documented as `logger=None` ("Application and Access Logging"), not typed so.
# mypy: disable-error-code="import-not-found, untyped-decorator, arg-type"

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from faststream import FastStream
from faststream.redis import RedisBroker, StreamSub
from faststream.redis.annotations import Pipeline

from .message import HOPS, RESULTS, Message, step

STREAMS = (*(f"faststream:{hop}" for hop in range(HOPS)), RESULTS)


async def serve(
    url: str, hop: int, ready: Callable[[], None], *, batch: bool = False, max_records: int = 100
) -> None:
    """Work as one hop, for ever."""
    broker = RedisBroker(url, logger=None)
    source = StreamSub(
        STREAMS[hop],
        # A group and a consumer: "Redis Stream Consumer Groups",
        # https://faststream.ag2.ai/latest/redis/streams/groups/
        group=f"g{hop}",
        consumer=f"c{hop}",
        # batch: "Redis Stream Batch Subscriber", https://faststream.ag2.ai/latest/redis/streams/batch/
        batch=batch,
        # max_records, polling_interval (ms, the default): StreamSub's docstring.
        max_records=max_records,
        polling_interval=100,
    )
    (_subscribe_batch if batch else _subscribe_each)(broker, source, hop)
    app = FastStream(broker, logger=None)
    app.after_startup(ready)
    await app.run(log_level=logging.CRITICAL)


def _subscribe_each(broker: RedisBroker, source: StreamSub, hop: int) -> None:
    # max_workers: "Concurrency", https://faststream.ag2.ai/latest/getting-started/subscription/concurrency/;
    # 16 was slower, 256 no gain.
    # The publisher decorator: "Redis Stream Publishing", https://faststream.ag2.ai/latest/redis/streams/publishing/
    @broker.subscriber(stream=source, max_workers=64)
    @broker.publisher(stream=STREAMS[hop + 1])
    async def handle(message: Message) -> Message:
        return step(message, hop)


def _subscribe_batch(broker: RedisBroker, source: StreamSub, hop: int) -> None:
    # The injected pipeline: "Redis Pipeline", https://faststream.ag2.ai/latest/redis/pipeline/
    @broker.subscriber(stream=source)
    async def handle(messages: list[Message], pipe: Pipeline) -> None:
        for message in messages:
            await broker.publish(step(message, hop), stream=STREAMS[hop + 1], pipeline=pipe)
        await pipe.execute()


@asynccontextmanager
async def client(
    url: str, **_: object
) -> AsyncIterator[Callable[[Sequence[str]], Awaitable[object]]]:
    """A publisher: one message by itself, several in one pipeline."""
    broker = RedisBroker(url, logger=None)
    r = await broker.connect()

    async def publish(ids: Sequence[str]) -> None:
        if len(ids) == 1:
            await broker.publish(Message(query_id=ids[0]), stream=STREAMS[0])
            return
        async with r.pipeline(transaction=False) as pipe:
            for query_id in ids:
                await broker.publish(Message(query_id=query_id), stream=STREAMS[0], pipeline=pipe)
            await pipe.execute()

    yield publish
    await broker.stop()
