"""Entries put on a stream by hand that are no messages: a dead letter each, and the workers go on."""

import json

import pytest

from bus import DeadLetterEntry
from contracts import TOPOLOGY

from .machine import STAGES, Home, add, asked, call, soon, worker_pids

pytestmark = pytest.mark.server

HUGE = b"x" * 10_000_000
HUGE_STREAMS = ("queries", "drafts")
MALFORMED: dict[str, dict[str, str | bytes]] = {
    "no JSON": {"event": "{"},
    "not UTF-8": {"event": b"\xff\xfe\x00"},
    "no envelope": {"event": "[]"},
    "empty": {"event": ""},
    "a type that nobody knows": {
        "event": json.dumps({"specversion": "1.0", "type": "groundwire.poem.v1", "subject": "p"})
    },
    "deeply nested": {"event": "[" * 100_000},
    "other fields": {"colour": "red", "size": b"\xff"},
    "a question of the wrong length": {"text": "x" * 8_001, "session_id": "s1"},
    "10 MB": {"event": HUGE},
    "10 MB in a field of another name": {"noise": HUGE},
    "10 MB of question": {"text": HUGE, "session_id": "s1"},
}


async def test_malformed_entries_on_every_stream_end_as_dead_letters_and_failed_results(
    handbook: Home,
) -> None:
    """No worker dies of any of them, the next question is answered, and the books balance."""
    put: dict[tuple[str, str], str] = {}

    def place(one: DeadLetterEntry) -> tuple[str, str]:
        return one.record.stream, one.record.entry_id

    async with handbook.connect() as bus:
        with handbook.redis() as server:
            before = {stage: worker_pids(server, stage) for stage in STAGES}
            for stream in TOPOLOGY.work_streams:
                for name, fields in MALFORMED.items():
                    if not name.startswith("10 MB") or stream in HUGE_STREAMS:
                        entry_id = add(server, f"gw:{{0}}:{stream}", fields)
                        put[stream, entry_id] = f"{name} on {stream}"

            async def are_all_buried() -> bool:
                return {place(one) for one in await bus.dead.list(1_000)} >= put.keys()

            await soon(are_all_buried, "dead letters")
            response = await asked(bus, "Can I get a refund on an annual plan?")
            assert response.status == "approved"
            assert {stage: worker_pids(server, stage) for stage in STAGES} == before
            dead = [one for one in await bus.dead.list(1_000) if place(one) in put]
            for one in dead:
                failed = await bus.result(one.record.query_id, timeout_s=5.0)
                assert failed.status == "failed", put[place(one)]
                assert failed.segments == ()
                assert one.record.error not in failed.display_text
                assert one.record.deliveries == 1, put[place(one)]
                await bus.dead.discard(one.id)
            work = [f"gw:{{0}}:{stream}" for stream in TOPOLOGY.work_streams]
            assert [call(server, "XLEN", stream) for stream in work] == [0] * len(work)
        assert (await bus.verify())[0].holds
        assert len(dead) == len(put)
