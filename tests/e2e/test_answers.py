"""Questions to five processes: an answer is a quote, everything else an honest no."""

import json
import os
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
import redis

import groundwire
from contracts import FormattedResponse, IdempotencyConflict, Invalid, Query

from .machine import HANDBOOK, RUNBOOKS, Home, add, asked, call, query, running_up

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

STRANGE = {
    "emoji": "Can I get a refund? 🙏🏽🧾👩‍👩‍👧",
    "right to left": "هل يمكنني استرداد أموالي؟ refund \u202eyenom\u202c",
    "NUL": "Can I get\x00 a refund on an annual plan?\x00",
    "CRLF": "Can I get a refund\r\non an annual plan?\r\n",
    "control characters": "refund\x07\x1b[31m\x7f\u2028annual",
    "not normalised": "Can I get a refu\u0301nd on an annual plan?",
    "the longest allowed": "refund " * 1142 + "annual",
    "JSON": '{"text": "refund", "__proto__": []}',
    "Lua and Redis": "refund ]] .. redis.call('FLUSHALL') \r\n*1\r\n$8\r\nFLUSHALL\r\n",
}


def assert_quoted(response: FormattedResponse, documents: Path) -> None:
    """Every segment is verbatim in the file that it cites, and shown."""
    assert response.segments
    for segment in response.segments:
        stored = (documents / segment.source).read_text(encoding="utf-8")
        assert segment.text in stored
        assert segment.text in response.display_text
        assert segment.source in response.display_text


async def test_an_answer_is_a_verbatim_quote_of_the_file_it_cites(handbook: Home) -> None:
    """From Python: submit, wait, and the words stand in the document."""
    async with handbook.connect() as bus:
        response = await asked(bus, "Can I get a refund on an annual plan?")
    assert response.status == "approved"
    assert_quoted(response, HANDBOOK)
    assert response.segments[0].source == "refunds.md"
    assert "Annual plans can be refunded in full within 45 days" in response.display_text


async def test_the_offsets_of_an_answer_point_at_its_quote_in_the_stored_document(
    handbook: Home,
) -> None:
    """`document.text[char_start:char_end] == segment.text`, for the corpus that is on disk."""
    async with handbook.connect() as bus:
        response = await asked(bus, "How do I cancel my plan?")
    snapshot = handbook.path / "corpus" / "snapshots" / str(response.corpus_version)
    with closing(sqlite3.connect(snapshot / "corpus.sqlite")) as database:
        stored = dict(database.execute("SELECT doc_id, text FROM documents"))
    assert response.segments
    for segment in response.segments:
        assert stored[segment.doc_id][segment.char_start : segment.char_end] == segment.text


async def test_connect_without_a_url_finds_the_system_of_the_folder(
    handbook: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`async with groundwire.connect()` is all that a program in this folder needs."""
    for name in [name for name in os.environ if name.startswith("GROUNDWIRE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(handbook.folder)
    async with groundwire.connect() as bus:
        first = await bus.submit(query("How do I cancel my plan?"), idempotency_key="a key")
        assert await bus.submit(query("How do I cancel my plan?"), idempotency_key="a key") == first
        response = await bus.result(first, timeout_s=30.0)
        async for result in bus.results("answered", after="0"):
            if result.response.query_id == first:
                assert result.response == response
                break
    assert response.status == "approved"


@pytest.mark.parametrize("text", ["What's the weather like today?", "", "   \r\n\t "])
async def test_a_question_about_something_else_or_nothing_is_out_of_scope(
    handbook: Home, text: str
) -> None:
    """Foreign, empty and blank questions get an honest no on a stream of their own."""
    async with handbook.connect() as bus:
        response = await asked(bus, text)
    assert response.status == "out_of_scope"
    assert response.segments == ()
    assert response.display_text


@pytest.mark.parametrize("name", STRANGE)
async def test_a_strange_question_is_answered_and_passes_unchanged(
    handbook: Home, name: str
) -> None:
    """No crash, no silent change: what a bare entry was adopted as is what a client would submit."""
    query_id, text = name.replace(" ", "-"), STRANGE[name]
    with handbook.redis() as server:
        fields = {"text": text, "session_id": "e2e", "query_id": query_id}
        add(server, "gw:{0}:queries", fields)
    async with handbook.connect() as bus:
        response = await bus.result(query_id, timeout_s=30.0)
        assert await bus.submit(query(text, query_id=query_id)) == query_id
        with pytest.raises(IdempotencyConflict):
            await bus.submit(query(text[:-1], query_id=query_id))
        assert (await asked(bus, text)).status == response.status
    assert response.status in {"approved", "approved_fallback", "out_of_scope"}


@pytest.mark.parametrize(
    "fields", [{"text": "x" * 8_001}, {"text": 7}, {"text": "refund", "colour": "red"}]
)
async def test_a_question_that_breaks_the_contract_is_refused_before_anything_is_published(
    handbook: Home, fields: dict[str, object]
) -> None:
    """Too long, of a wrong type, with an unknown field: an error that names the field."""
    async with handbook.connect() as bus:
        before = (await bus.status()).accepted
        with pytest.raises(ValueError, match=r"text|colour"):
            Query.model_validate({"session_id": "e2e", **fields})
        assert (await bus.status()).accepted == before


async def test_a_lone_surrogate_is_refused_at_submit(handbook: Home) -> None:
    """What UTF-8 can't say is never published, and the error says why."""
    async with handbook.connect() as bus:
        before = (await bus.status()).accepted
        with pytest.raises((Invalid, ValueError), match=r"surrogate|unicode"):
            await bus.submit(query("refund \ud800"))
        assert (await bus.status()).accepted == before


@pytest.mark.parametrize("query_id", ["", "mine.1", "0-77"])
async def test_a_bare_entry_of_any_client_is_answered(handbook: Home, query_id: str) -> None:
    """`XADD gw:{0}:queries * text … session_id …` is all it takes; its id is known beforehand."""
    fields = {"text": "Can I get a refund on an annual plan?", "session_id": "s1"}
    if query_id:
        fields["query_id"] = query_id
    with handbook.redis() as server:
        entry = add(server, "gw:{0}:queries", fields)
    async with handbook.connect() as bus:
        response = await bus.result(query_id or f"0-{entry}", timeout_s=30.0)
    assert response.status == "approved"
    assert response.session_id == "s1"
    assert_quoted(response, HANDBOOK)


def duplicates(server: redis.Redis) -> int:
    """How many bare entries were dropped because their id was known."""
    return int(call(server, "HGET", "gw:{0}:counters", "duplicates") or 0)


async def test_a_bare_entry_with_the_id_of_an_answered_query_is_dropped(handbook: Home) -> None:
    """The same id again changes nothing, and is counted."""
    fields = {"text": "How do I cancel my plan?", "session_id": "s1", "query_id": "mine.2"}
    async with handbook.connect() as bus:
        with handbook.redis() as server:
            add(server, "gw:{0}:queries", fields)
            first = await bus.result("mine.2", timeout_s=30.0)
            before, dropped = (await bus.verify())[0], duplicates(server)
            add(server, "gw:{0}:queries", fields | {"text": "Something else entirely?"})
            add(server, "gw:{0}:queries", fields | {"query_id": "mine.3"})
            await bus.result("mine.3", timeout_s=30.0)  # behind it, so the second was looked at
            assert duplicates(server) == dropped + 1
        after = (await bus.verify())[0]
        assert await bus.result("mine.2") == first
    assert after.accepted == before.accepted + 1
    assert after.holds


async def test_the_trace_of_an_answer_names_every_stage_once(handbook: Home) -> None:
    """Five hops, in order, each with its times and digests."""
    async with handbook.connect() as bus:
        query_id = await bus.submit(query("Can I get a refund on an annual plan?"))
        await bus.result(query_id, timeout_s=30.0)
        events = [seen.event for seen in await bus.trace(query_id)]
    assert [event.stage for event in events] == [
        "understand",
        "retrieve",
        "synthesize",
        "critic",
        "format",
    ]
    assert all(event.attempt == 1 and event.config_digest for event in events)
    assert all(one.output_digest == two.input_digest for one, two in pairwise(events))


async def test_another_corpus_of_another_field_is_answered_too(home: Home) -> None:
    """The database runbooks, with their own intents, on the same five agents."""
    lines = (RUNBOOKS / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines][:6]
    with running_up(home, "--docs", RUNBOOKS):
        async with home.connect() as bus:
            answers = [await asked(bus, case["question"]) for case in questions]
            foreign = await asked(bus, "Can I get a refund on an annual plan?")
    assert foreign.status == "out_of_scope"
    quoted = 0
    for case, response in zip(questions, answers, strict=True):
        assert response.status in (
            "approved",
            "approved_fallback",
        )  # by words alone it is less sure
        if response.status == "approved":
            assert_quoted(response, RUNBOOKS)
        quoted += case["quote"] in response.display_text
    assert quoted >= 4
