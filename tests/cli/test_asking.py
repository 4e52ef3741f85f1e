"""`ask`, `result` and `publish`: what a person and a script get, and the exit code of each outcome."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from e2e.machine import HANDBOOK, RUNBOOKS, add

from contracts import DraftAnswer, Intent, Query
from contracts.envelope import encode, first_envelope

from .conftest import Commands

pytestmark = pytest.mark.server

QUESTION = "Can I get a refund on an annual plan?"
QUOTE = "Annual plans can be refunded in full within 45 days of the charge."
RESPONSE = {
    "type",
    "query_id",
    "session_id",
    "channel",
    "status",
    "label",
    "confidence",
    "display_text",
    "channel_json",
    "segments",
    "corpus_version",
    "failed_checks",
    "supersedes",
}


def accepted(groundwire: Commands) -> int:
    """How many queries the system has ever accepted."""
    return int(groundwire("status", "--json").json["accepted"])


def test_an_answer_shows_its_status_its_quote_and_its_source(groundwire: Commands) -> None:
    """For a person, on standard output; exit code 0."""
    done = groundwire("ask", QUESTION)
    assert done.code == 0
    assert done.out.startswith("approved")
    assert QUOTE in " ".join(done.out.split())
    assert "refunds.md" in done.out


def test_an_answer_as_json_is_the_response_with_query_id_and_segments(
    groundwire: Commands,
) -> None:
    """For a script: one document and nothing else on standard output."""
    done = groundwire("ask", QUESTION, "--json")
    assert done.code == 0
    assert done.json.keys() == RESPONSE
    assert done.json["status"] == "approved"
    assert done.json["query_id"].startswith("0-")
    assert QUOTE in done.json["segments"][0]["text"]


@pytest.mark.parametrize("question", ["What's the weather like today?", "", " \r\n"])
def test_out_of_scope_is_exit_code_4(groundwire: Commands, question: str) -> None:
    """Foreign, empty and blank alike: an honest no is no error, and no answer."""
    done = groundwire("ask", question, "--json")
    assert done.code == 4
    assert done.json["status"] == "out_of_scope"


def test_no_result_in_time_is_exit_code_6(groundwire: Commands) -> None:
    """The message says that the query is still open."""
    done = groundwire("ask", QUESTION, "--timeout", "0")
    assert done.code == 6
    assert "still open" in done.err


def test_the_trace_shows_hops_and_scores_and_not_a_word_of_the_draft(groundwire: Commands) -> None:
    """Stages, times, digests: what the draft said stands in the answer alone."""
    done = groundwire("ask", QUESTION, "--trace", "--json")
    assert done.code == 0
    trace = done.json["trace"]
    stages = ["understand", "retrieve", "synthesize", "critic", "format"]
    assert [event["stage"] for event in trace] == stages
    assert all(event.keys() >= {"type", "attempt", "waited_us", "scores"} for event in trace)
    words = {word for word in QUOTE.split() if len(word) > 6}
    assert not any(word in json.dumps(trace) for word in words)
    shown = groundwire("ask", QUESTION, "--trace").out
    table = shown[shown.index("stage") :]
    assert [line.split()[0] for line in table.strip().splitlines()[1:]] == stages
    assert QUOTE not in table


def test_a_question_of_8001_characters_is_refused_and_not_published(groundwire: Commands) -> None:
    """Exit code 2; the error names the field, and nothing was accepted."""
    before = accepted(groundwire)
    done = groundwire("ask", "x" * 8_001)
    assert done.code == 2
    assert "text: string_too_long" in done.err
    assert accepted(groundwire) == before


@pytest.mark.parametrize(
    "words",
    [["ask", "refund \udce9"], ["ask", "refund", "--session", "\udce9"], ["result", "\udce9"]],
)
def test_a_lone_surrogate_in_an_argument_is_a_usage_error(
    groundwire: Commands, words: list[str]
) -> None:
    """What a terminal of another encoding passes on: named, exit code 2, no traceback."""
    before = accepted(groundwire)
    done = groundwire(*words)
    assert done.code == 2
    assert done.err.strip()
    assert accepted(groundwire) == before


def test_a_question_like_an_option_is_asked_after_two_dashes(groundwire: Commands) -> None:
    """The convention of every command line."""
    assert groundwire("ask", "--json", "--", "--refund?").code == 0


def test_ask_with_the_documents_of_the_running_system_uses_it(groundwire: Commands) -> None:
    """`--docs` of the very same folder starts nothing."""
    before = accepted(groundwire)
    assert groundwire("ask", "--docs", HANDBOOK, QUESTION).code == 0
    assert accepted(groundwire) == before + 1


def test_ask_with_other_documents_uses_a_private_system_and_leaves_the_running_one_alone(
    groundwire: Commands,
) -> None:
    """The runbooks answer once, in processes of their own."""
    before = accepted(groundwire)
    done = groundwire(
        "ask", "--docs", RUNBOOKS, "--json", "How long do we keep production backups?"
    )
    assert done.code == 0
    assert done.json["segments"][0]["source"] == "backups-and-restore.md"
    assert accepted(groundwire) == before


def test_published_lines_are_printed_as_ids_in_order_and_can_be_waited_for(
    groundwire: Commands, tmp_path: Path
) -> None:
    """Plain text and JSON lines, blank ones skipped; `result` ends as `ask` does."""
    lines = [
        QUESTION,
        "",
        json.dumps({"text": "What's the weather like today?", "session_id": "s2"}),
        json.dumps({"text": "How do I cancel?", "query_id": "0-mine", "channel": "markdown"}),
    ]
    file = tmp_path / "questions.txt"
    file.write_text("\n".join(lines))
    done = groundwire("publish", file)
    assert done.code == 0
    first, second, third = done.out.split()
    assert third == "0-mine"
    answered = groundwire("result", first, "--json")
    assert (answered.code, answered.json["status"]) == (0, "approved")
    foreign = groundwire("result", second, "--json")
    assert (foreign.code, foreign.json["session_id"]) == (4, "s2")
    assert groundwire("result", third, "--trace").code == 0


def test_published_ids_as_json_from_standard_input(groundwire: Commands) -> None:
    """`-` is standard input; `--json` prints one object."""
    done = groundwire("publish", "-", "--json", stdin=f"{QUESTION}\n{QUESTION}\n")
    assert done.code == 0
    assert len(set(done.json["query_ids"])) == 2


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_what_was_accepted_before_a_refusal_is_told(
    groundwire: Commands, options: tuple[str, ...]
) -> None:
    """A hundred lines are sent at a time; a program learns of them as a person does."""
    query_id = f"0-taken{len(options)}"
    first = json.dumps({"text": "?", "query_id": query_id})
    other = json.dumps({"text": "another question", "query_id": query_id})
    lines = "\n".join([first, *["?"] * 99, other])
    done = groundwire("publish", "-", *options, stdin=f"{lines}\n")
    ids = done.json["query_ids"] if options else done.out.split()
    assert (done.code, len(ids), ids[0]) == (1, 100, query_id)
    assert query_id in done.err
    assert groundwire("result", ids[-1]).code == 4


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"text": 5}', "text: string_type"),
        ('{"text": "refund", "colour": "red"}', "colour: extra_forbidden"),
        ('{"session_id": "s"}', "text: missing"),
        ('{"text": ', "not JSON"),
        ('{"text": ' + "[" * 100_000, "not JSON"),
        ('{"text": "refund \\ud800"}', "line 2"),
        ("x" * 8_001, "text: string_too_long"),
        ('{"text": "refund", "query_id": "a b"}', "query_id"),
    ],
)
def test_one_bad_line_is_named_and_nothing_is_published(
    groundwire: Commands, line: str, fault: str
) -> None:
    """All or nothing: the line's number, the field, the rule."""
    before = accepted(groundwire)
    done = groundwire("publish", "-", stdin=f"{QUESTION}\n{line}\n{QUESTION}\n")
    assert done.code == 2
    assert "line 2" in done.err
    assert fault in done.err
    assert "nothing was published" in done.err
    assert done.out == ""
    assert accepted(groundwire) == before


def test_an_unknown_query_has_no_result_in_time(groundwire: Commands) -> None:
    """Exit code 6 after the wait."""
    done = groundwire("result", "0-unknown", "--timeout", "0.2")
    assert done.code == 6
    assert "0-unknown" in done.err


def test_a_failed_query_is_exit_code_1(groundwire: Commands) -> None:
    """The asker gets an honest message, the operator a dead letter."""
    with groundwire.home.redis() as server:
        entry = add(server, "gw:{0}:verdicts", {"event": "{"})
    done = groundwire("result", f"0-format-{entry}", "--json")
    assert done.code == 1
    assert done.json["status"] == "failed"


def lying_draft(query_id: str) -> bytes:
    """A valid message for the critic whose text no document bears out."""
    asked = Query(query_id=query_id, text=QUESTION, session_id="s")
    intent = Intent(
        query=asked,
        cleaned_text=QUESTION,
        label="refund_policy",
        confidence=1.0,
        category_scores={},
        in_scope=True,
    )
    draft = DraftAnswer(
        intent=intent,
        corpus_version="unheard-of",
        text="90 days, guaranteed.",
        segments=(),
        source_passage_ids=(),
        entity_match=True,
    )
    now = datetime.now(UTC)
    deadline = now + timedelta(minutes=5)
    return encode(
        first_envelope(draft, source="test", subject=query_id, time=now, deadline=deadline)
    )


def test_a_rejected_answer_is_exit_code_5_and_is_not_shown(groundwire: Commands) -> None:
    """What the critic refuses is told as a refusal, in words that aren't the draft's."""
    with groundwire.home.redis() as server, server.pipeline() as step:
        step.zadd("gw:{0}:open", {"0-lying": 4_102_444_800_000})
        step.hincrby("gw:{0}:counters", "accepted", 1)
        step.xadd("gw:{0}:drafts", {"event": lying_draft("0-lying")})
        step.execute()
    done = groundwire("result", "0-lying", "--json")
    assert (done.code, done.json["status"]) == (5, "rejected")
    assert "guaranteed" not in done.out
    assert groundwire("result", "0-lying").code == 5
    assert groundwire("verify").code == 0
