"""A draft that was corrupted on its way to the critic: its text is nowhere afterwards."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import redis

from bus import Bus
from contracts import FormattedResponse
from groundwire.embedded.folder import free_port

from .collector import Collector, collecting
from .machine import START_S, Home, add, call, query, soon
from .parts import server_and_corpus, stage_status, workers

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

MARK = "guaranteed-7f3a"
LIE = f"90 days, {MARK}."
QUESTION = "Can I get a refund on an annual plan?"
PLACES = (
    "text",
    "text of everything",
    "quote",
    "passage_id",
    "doc_id",
    "title",
    "source",
    "heading",
    "corpus_version",
    "source_passage_ids",
    "caveat",
    "related",
    *(FAILING := ("no message", "a name", "data's type", "envelope's type")),
    "a digit",
    "a word",
    "a span moved by one",
    "an id swapped",
    "text of another document",
    "an appended sentence",
)
"""Where the lie is put: every place of a draft that holds words, a field that no draft has, its name, a type that no
message has; then what is changed without the lie's mark."""
REJECTED = float(len(PLACES) - len(FAILING))
PIECE = 12
"""So many characters in a row are something that one could recognise."""
STRANGE = "Only one timer can run at a time for each person"
"""Said in another document of the handbook."""


def corrupted(draft: dict[str, Any], place: str) -> dict[str, Any]:
    """The draft with the lie in one place."""
    lying: dict[str, Any] = json.loads(json.dumps(draft))
    segment = lying["segments"][0]
    match place:
        case "text":
            lying["text"] = LIE
        case "text of everything":
            segment["text"] += LIE
            segment["char_end"] += len(LIE)
            lying["text"] = lying["text"].replace(draft["segments"][0]["text"], segment["text"])
        case "quote":
            segment["text"] = LIE
        case "passage_id" | "doc_id" | "title" | "source":
            segment[place] = LIE
        case "heading":
            segment["heading_path"] = [LIE]
        case "corpus_version":
            lying["corpus_version"] = LIE
        case "source_passage_ids":
            lying["source_passage_ids"].append(LIE)
        case "caveat":
            lying["caveats"] = [{"kind": "entity_not_in_source", "name": LIE, "values": [LIE]}]
        case "related":
            lying["related"] = [dict.fromkeys(("passage_id", "doc_id", "title", "source"), LIE)]
        case "no message":
            lying["note"] = LIE
        case "a name":
            lying[LIE] = "note"
        case "data's type":
            lying["type"] = LIE
        case "envelope's type":
            return lying
        case "a digit":
            change(lying, "45 days", "95 days")
        case "a word":
            change(lying, "refunded in full", "refunded in gold")
        case "a span moved by one":
            change(lying, segment["text"], segment["text"][1:])
            segment["char_start"] += 1
        case "an id swapped":
            segment["doc_id"] = "time-tracking.md"
        case "text of another document":
            change(lying, segment["text"], STRANGE)
        case "an appended sentence":
            lying["text"] += f"\n\n{STRANGE} too."
        case _:
            pytest.fail(f"no place {place}")
    assert lying != draft
    return lying


def change(lying: dict[str, Any], old: str, new: str) -> None:
    """Say it otherwise in the first quote and in the text."""
    segment = lying["segments"][0]
    assert old in segment["text"]
    segment["text"] = segment["text"].replace(old, new)
    lying["text"] = lying["text"].replace(old, new)


def pieces(message: object) -> set[bytes]:
    """Every run of PIECE characters of a message's texts and names that JSON writes as they are."""
    if isinstance(message, str):
        runs = (message[at : at + PIECE] for at in range(len(message) - PIECE + 1))
        return {run.encode() for run in runs if run.isascii() and json.dumps(run) == f'"{run}"'}
    items = [*message, *message.values()] if isinstance(message, dict) else message
    parts = [pieces(item) for item in items] if isinstance(items, Iterable) else []
    return set().union(*parts)


def corrupt(server: redis.Redis, places: dict[str, str]) -> set[bytes]:
    """Take every draft off its stream and put it back with a lie in the place its query names.

    Returns all that is new by it.
    """
    new: set[bytes] = set()
    stream = "gw:{0}:drafts"
    for entry_id, fields in call(server, "XRANGE", stream, "-", "+"):
        raw = (
            dict(fields)
            if isinstance(fields, dict)
            else dict(zip(fields[::2], fields[1::2], strict=True))
        )
        envelope = json.loads(raw[b"event"])
        honest, place = dict(envelope), places[envelope["subject"]]
        envelope["data"] = corrupted(envelope["data"], place)
        if place == "envelope's type":
            envelope["type"] = LIE
        new |= pieces(envelope) - pieces(honest)
        call(server, "XDEL", stream, entry_id)
        add(server, stream, {"event": json.dumps(envelope)})
    return new


def everything_in(server: redis.Redis) -> Iterator[tuple[str, bytes]]:
    """Every key of the server with its name and all that it holds."""
    for key in server.scan_iter(count=1000):
        match call(server, "TYPE", key):
            case b"string":
                held = call(server, "GET", key)
            case b"stream":
                held = call(server, "XRANGE", key, "-", "+")
            case b"hash":
                held = call(server, "HGETALL", key)
            case b"zset":
                held = call(server, "ZRANGE", key, 0, -1)
            case b"set":
                held = call(server, "SMEMBERS", key)
            case other:
                pytest.fail(f"{key!r} is a {other!r}: scan that too")
        yield key.decode(), key + b" " + repr(held).encode()


async def submit_one_for_each_place(bus: Bus) -> dict[str, str]:
    """One accepted query for every place: query_id → place."""
    asked = [query(QUESTION, place) for place in PLACES]
    return dict(zip(await bus.submit_many(asked), PLACES, strict=True))


async def test_a_corrupted_draft_is_rejected_and_its_text_is_nowhere(tmp_path: Path) -> None:
    """In no result, key, event, record, log, metric, trace or failed message: only under the operator's raw key."""
    with (
        collecting() as collector,
        server_and_corpus(tmp_path, *collector.variables) as home,
        workers(home) as start,
        home.redis() as server,
    ):
        for stage in ("understand", "retrieve", "synthesize"):
            start(stage)
        async with home.connect() as bus:
            places = await submit_one_for_each_place(bus)

            async def all_drafted() -> bool:
                return (await stage_status(bus, "critic")).backlog == len(PLACES)

            await soon(all_drafted, "the drafts", START_S)
            new = corrupt(server, places)
            ports = {stage: free_port() for stage in ("critic", "format")}
            for stage, port in ports.items():
                start(stage, ("GROUNDWIRE_HEALTH_PORT", str(port)))
            results = {
                place: await bus.result(query_id, timeout_s=START_S)
                for query_id, place in places.items()
            }
            dead = await bus.dead.list()
            shown = await asyncio.gather(
                *(asyncio.to_thread(told_at, one) for one in ports.values())
            )
            assert (await bus.verify())[0].holds
        assert len(new) > 2 * len(LIE)
        holders = [name for name, held in everything_in(server) if any(one in held for one in new)]
        assert_nothing_in_logs(home, new)
    assert_nothing_in_metrics(shown, new)
    assert_nothing_in_traces(collector, new)
    assert_refused(results)
    assert {entry.record.query_id for entry in dead} == {
        query_id for query_id, place in places.items() if place in FAILING
    }
    assert sorted(holders) == sorted(entry.record.raw_key for entry in dead)


def assert_refused(results: dict[str, FormattedResponse]) -> None:
    """The asker is told of a rejection, or of a failure, and nothing of the draft."""
    expected = dict.fromkeys(PLACES, "rejected") | dict.fromkeys(FAILING, "failed")
    assert {place: result.status for place, result in results.items()} == expected
    for result in results.values():
        assert result.segments == ()
        assert MARK not in result.model_dump_json()


def told_at(port: int) -> bytes:
    """All that a worker answers on its port."""
    told = b""
    for path in ("livez", "readyz", "metrics"):
        with urlopen(f"http://127.0.0.1:{port}/{path}", timeout=10.0) as answer:
            told += answer.read()
    return told


def assert_nothing_in_metrics(shown: Sequence[bytes], new: set[bytes]) -> None:
    """Rejections and failures are counted, by names of ours alone."""
    assert (
        f'groundwire_results_total{{outcome="rejected",stage="format"}} {REJECTED}'.encode()
        in (shown[1])
    )
    assert b'groundwire_dead_letters_total{reason="invalid",stage="critic"}' in shown[0]
    for told in shown:
        assert not [one for one in new | pieces(QUESTION) if one in told]


def assert_nothing_in_traces(collector: Collector, new: set[bytes]) -> None:
    """Five processes have exported all that they did, and no span has a word of it, or of the question."""
    names = {span.name for _, span in collector.spans()}
    assert {"process queries", "invoke_agent critic", "send results.rejected"} <= names
    sent = b"".join(collector.bodies)
    assert not [one for one in new | pieces(QUESTION) if one in sent]


def assert_nothing_in_logs(home: Home, new: set[bytes]) -> None:
    """At level debug, no log of any worker has a word of it."""
    logs = list(home.folder.glob("*.log"))
    assert len(logs) == 5
    for log in logs:
        text = log.read_text()
        assert "worker.ready" in text
        assert MARK not in text
        assert not [one for one in new | pieces(QUESTION) if one.decode() in text]
        assert '"event":"delivery.started"' in text
