"""The yardstick: the same five hops as plain redis-py asyncio loops, with no framework and little of a bus.

It does, for each message: read (COUNT 100), parse and dump the same envelope by the same classes, call the
same handler; and in one Lua script a batch: fence (pending, mine), output, event, ack, delete; for a result also
the open set, result key and result stream. Its publisher writes stream and open set, a hundred queries a trip.
It does not: check types, time out, retry, dead-letter, park, look at deadlines, count, digest, beat, claim, tick,
hold back, reconnect, drain, know idempotency keys. It reads the next batch when the last one is settled.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import redis.asyncio as aioredis

from contracts import TOPOLOGY, Decoded, Decoder, Query
from contracts.envelope import encode, encode_next, first_envelope, iso
from groundwire.noop import HANDLERS

RESULTS, OPEN = "bare:results", "bare:open"
SETTLE = """
local n, mine, ids = tonumber(ARGV[4]), {}, {}
local pending = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[5], ARGV[1 + 4 * n], n, ARGV[2])
for _, p in ipairs(pending) do mine[p[1]] = true end
for i = 5, 4 * n + 4, 4 do
  local id, query_id, body, event = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  if mine[id] and (ARGV[3] == 'emit' or redis.call('ZREM', KEYS[4], query_id) == 1) then
    if ARGV[3] == 'emit' then
      redis.call('XADD', KEYS[2], '*', 'event', body)
    else
      redis.call('XADD', KEYS[2], 'MAXLEN', '~', 100000, '*', 'event', body)
      redis.call('SET', 'bare:result:' .. query_id, body, 'PX', 3600000)
    end
    redis.call('XADD', KEYS[3], 'MAXLEN', '~', 100000, '*', 'event', event)
    ids[#ids + 1] = id
  end
end
if #ids > 0 then
  redis.call('XACK', KEYS[1], ARGV[1], unpack(ids))
  redis.call('XDEL', KEYS[1], unpack(ids))
end
"""
EVENT = '{"stage":"%s","cause":"%s","query_id":"%s","time":"%s","outcome":"%s"}'


async def serve(url: str, name: str, ready: Callable[[], None]) -> None:
    """Work as one stage, for ever; calls `ready` when it begins to read."""
    r, stage = aioredis.Redis.from_url(url, socket_timeout=None), TOPOLOGY.stage(name)
    handler, decoder, settle = HANDLERS[name], Decoder(stage), r.register_script(SETTLE)
    stream, target = f"bare:{stage.consumes}", f"bare:{(stage.next_streams or ('results',))[0]}"
    kind = "result" if stage.is_last else "emit"
    await r.xgroup_create(stream, name, id="0", mkstream=True)
    ready()
    while True:
        reply: Any = await r.xreadgroup(name, "me", {stream: ">"}, count=100, block=2000)
        args: list[str | bytes | int] = [name, "me", kind, len(reply[0][1]) if reply else 0]
        for entry_id, fields in reply[0][1] if reply else []:
            found = decoder.decode(fields[b"event"])
            assert isinstance(found, Decoded)
            cause, now = found.head, iso(datetime.now(UTC))
            message = await handler(found.message)
            out = encode_next(cause, message, stage=name, time=now, configdigest="")
            event = EVENT % (name, cause.id, cause.subject, now, kind)
            args += [entry_id, cause.subject, out, event]
        if reply:
            await settle(keys=[stream, target, "bare:events", OPEN], args=args)


async def publish(r: aioredis.Redis, queries: Sequence[Query]) -> None:
    """Publish stamped queries in one round trip, without asking whether they are known."""
    pipe = r.pipeline(transaction=False)
    for query in queries:
        now = datetime.now(UTC)
        due, query_id = now + timedelta(minutes=10), query.query_id
        asked = query.model_copy(update={"asked_at": now})
        first = first_envelope(asked, source="bare", subject=query_id, time=now, deadline=due)
        pipe.xadd("bare:queries", {"event": encode(first)})
        pipe.zadd(OPEN, {query_id: due.timestamp() * 1000})
    await pipe.execute()
