"""The guarantee, as properties: nothing corrupted is approved or seen, every character shown has a source, and the
same question gets the same bytes."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.pipeline import Pipeline
from agents.wording import Wording
from contracts import (
    Approved,
    Citation,
    DraftAnswer,
    FormattedResponse,
    Query,
    Rejected,
    RelatedPassage,
    Segment,
    Value,
)
from groundwire.wiring import Handler, assemble, build_agents, build_pipeline

ROOT = Path(__file__).resolve().parents[2]
HANDBOOK = ROOT / "examples" / "handbook"
PIECE = 12
"""So many characters in a row of a corruption are something that one could recognise."""
QUESTIONS = (
    "Can I get a refund on an annual plan?",
    "How do I cancel my plan, and do I get my money back?",
    "Which ways of paying are there?",
    "Does the warranty of 77 days cover the Zephyr plan?",
)


@pytest.fixture(scope="module")
def agents() -> Mapping[str, Handler]:
    return build_agents(assemble("fast", HANDBOOK))


async def drafted(agents: Mapping[str, Handler], question: str = QUESTIONS[0]) -> DraftAnswer:
    intent = await agents["understand"](Query(query_id="0-q", text=question, session_id="s"))
    draft = await agents["synthesize"](await agents["retrieve"](intent))
    assert isinstance(draft, DraftAnswer)
    return draft


def strings(value: Any) -> Iterator[str]:
    """Every text in a message."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def pieces(*messages: Value) -> set[str]:
    """Every run of PIECE characters in the texts of messages."""
    texts = (text for message in messages for text in strings(message.model_dump(mode="json")))
    return {text[at : at + PIECE] for text in texts for at in range(len(text) - PIECE + 1)}


def others() -> list[str]:
    """Sentences of every document but the one that the first question is answered from."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(HANDBOOK.glob("*.md")))
    lines = (line for text in texts if "# Refunds" not in text for line in text.splitlines())
    return [line for line in lines if len(line) > 2 * PIECE]


KINDS = (
    "a digit",
    "a word",
    "a letter",
    "the start",
    "the end",
    "both ends",
    "a passage's id",
    "a document's id",
    "another document's text",
    "an appended sentence",
    "an appended quote",
    "two quotes swapped",
)


@st.composite
def corruptions(draw: st.DrawFn) -> tuple[str, int, str]:
    """What is corrupted, where, and with which foreign sentence."""
    return (
        draw(st.sampled_from(KINDS)),
        draw(st.integers(0, 10_000)),
        draw(st.sampled_from(others())),
    )


def corrupted(draft: DraftAnswer, kind: str, at: int, foreign: str) -> DraftAnswer:
    """The draft with one thing changed, and all that follows from it changed with it."""
    one = draft.segments[at % len(draft.segments)]
    text, start, end = one.text, one.char_start, one.char_end
    place = at % len(text)
    match kind:
        case "a digit":
            digits = [found.start() for found in re.finditer(r"\d", text)] or [0]
            place = digits[at % len(digits)]
            new = "7" if text[place] != "7" else "3"
            changed = one.model_copy(update={"text": text[:place] + new + text[place + 1 :]})
        case "a word":
            words = list(re.finditer(r"\w+", text))
            word = words[at % len(words)]
            put = foreign.split()[0] if foreign.split()[0] != word[0] else "unverified"
            changed = one.model_copy(
                update={"text": text[: word.start()] + put + text[word.end() :]}
            )
        case "a letter":
            changed = one.model_copy(update={"text": text[:place] + "§" + text[place:]})
        case "the start":
            changed = one.model_copy(update={"text": text[1:], "char_start": start + 1})
        case "the end":
            changed = one.model_copy(update={"char_end": end + 1})
        case "both ends":
            changed = one.model_copy(update={"char_start": start + 1, "char_end": end + 1})
        case "a passage's id":
            changed = one.model_copy(update={"passage_id": f"{one.passage_id}x"})
        case "a document's id":
            changed = one.model_copy(update={"doc_id": "plans.md"})
        case "another document's text":
            changed = one.model_copy(update={"text": foreign})
        case "an appended sentence":
            return draft.model_copy(update={"text": f"{draft.text} {foreign}"})
        case "an appended quote":
            more = one.model_copy(update={"text": foreign})
            return with_segments(draft, [*draft.segments, more])
        case "two quotes swapped":
            return draft.model_copy(
                update={"text": draft.text[place:] + foreign + draft.text[:place]}
            )
        case _:
            pytest.fail(f"no corruption {kind}")
    return with_segments(draft, [changed if seen is one else seen for seen in draft.segments])


def with_segments(draft: DraftAnswer, segments: list[Segment]) -> DraftAnswer:
    """The draft with these quotes, its text and sources following them."""
    text = draft.text
    for old, new in zip(draft.segments, segments, strict=False):
        text = text.replace(old.text, new.text)
    added = "".join(f"\n\n{one.text}" for one in segments[len(draft.segments) :])
    sources = tuple(dict.fromkeys(one.passage_id for one in segments))
    return draft.model_copy(
        update={"segments": tuple(segments), "source_passage_ids": sources, "text": text + added}
    )


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(how=corruptions())
async def test_nothing_corrupted_is_approved_and_no_piece_of_it_leaves(
    agents: Mapping[str, Handler], how: tuple[str, int, str]
) -> None:
    """It is refused as a draft without a word would be, but for the names of the checks."""
    draft = await drafted(agents)
    assert draft.segments
    lying = corrupted(draft, *how)
    verdict, response = await judged(agents, lying)
    silent, refusal = await judged(agents, draft.model_copy(update={"text": ""}))
    assert isinstance(verdict, Rejected), how
    assert response.model_copy(update={"failed_checks": refusal.failed_checks}) == refusal
    new = pieces(lying) - pieces(draft) - pieces(silent, refusal)
    assert not new & pieces(verdict, response)


async def judged(
    agents: Mapping[str, Handler], draft: DraftAnswer
) -> tuple[Value, FormattedResponse]:
    """The verdict on a draft, and what the asker is told."""
    verdict = await agents["critic"](draft)
    response = await agents["format"](verdict)
    assert isinstance(response, FormattedResponse)
    return verdict, response


@pytest.mark.parametrize("question", QUESTIONS)
async def test_every_character_of_an_answer_is_of_a_source_or_a_configured_connective(
    agents: Mapping[str, Handler], question: str
) -> None:
    """Take away the spans of the stored documents and the configured words: nothing is left."""
    verdict, response = await judged(agents, await drafted(agents, question))
    assert isinstance(verdict, Approved)
    left = response.display_text
    for segment in response.segments:
        stored = (HANDBOOK / segment.source).read_text(encoding="utf-8")
        assert segment.text in stored
        left = left.replace(segment.text.strip(), "", 1)
    for caveat in verdict.caveats:
        left = left.replace(Wording().of_caveat(caveat), "", 1)
    payload = response.channel_json
    places: list[Citation | RelatedPassage] = [*payload.citations, *payload.related]
    for cited in places:
        for name in (f"({cited.source})", *cited.heading_path[::-1], cited.title):
            left = left.replace(name, "")
    if not payload.citations:
        assert payload.message in (HANDBOOK / "intents.toml").read_text(encoding="utf-8")
        left = left.replace(payload.message, "")
    assert re.sub(r"\[\d+\]|Sources:|See also:|›|^- ", "", left, flags=re.M).strip() == ""


async def test_a_redelivery_gives_the_same_bytes(agents: Mapping[str, Handler]) -> None:
    """Every stage, the same message again and by another worker: the payload is the same to the byte."""
    another = build_agents(assemble("fast", HANDBOOK))
    message: Value = Query(query_id="0-q", text=QUESTIONS[1], session_id="s")
    for stage in ("understand", "retrieve", "synthesize", "critic", "format"):
        first = await agents[stage](message)
        for again in (await agents[stage](message), await another[stage](message)):
            assert again.model_dump_json() == first.model_dump_json(), stage
        message = first


def test_no_agent_asks_what_time_it_is() -> None:
    """import-linter keeps clock and chance from them as modules; a date has a clock of its own."""
    asked = re.compile(r"\.(?:now|today|utcnow|fromtimestamp)\(")
    agents_modules = sorted((ROOT / "agents").glob("*.py"))
    assert len(agents_modules) > 20
    assert [one.name for one in agents_modules if asked.search(one.read_text())] == []


async def digest(profile: str, documents: str) -> str:
    """The SHA-256 of the responses to all questions."""
    pipeline: Pipeline = build_pipeline(profile, documents)
    responses = [(await pipeline.run(question)).response for question in QUESTIONS]
    return hashlib.sha256("".join(map(Value.model_dump_json, responses)).encode()).hexdigest()


def digest_elsewhere(profile: str, documents: Path, seed: str) -> "subprocess.Popen[str]":
    """A process of its own that prints it; it computes on one thread, as workers do."""
    code = (
        "import asyncio, runpy; from groundwire.threads import compute_on_one; compute_on_one(); "
        f"print(asyncio.run(runpy.run_path({str(Path(__file__))!r})['digest']({profile!r}, {str(documents)!r})))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": seed},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("profile", ["fast", "default"])
def test_no_order_of_a_dictionary_or_a_set_is_in_an_answer(profile: str, tmp_path: Path) -> None:
    """Another process, with another seed of hashes, gives the same bytes."""
    documents = HANDBOOK
    if profile == "default":  # its models are of interest; to learn its classifier takes long
        documents = tmp_path
        for page in ("refunds.md", "cancellation.md", "payment-methods.md"):
            shutil.copy(HANDBOOK / page, documents)
    processes = [digest_elsewhere(profile, documents, seed) for seed in ("1", "77")]
    one, other = (process.communicate(timeout=120)[0].strip() for process in processes)
    assert [process.returncode for process in processes] == [0, 0]
    assert (len(one), one) == (64, other)
