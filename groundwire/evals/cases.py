"""Whole answers of a profile as it ships: the course's baseline, our compound and paraphrased cases, our examples."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from contracts import FormattedResponse, Misconfigured, RetrievedContext
from groundwire.profiles import Profile, shipped_intents
from groundwire.wiring import build_pipeline

from . import questions

FOLDERS = ("handbook", "runbooks")
ANSWERED = "approved"


async def measure_course(profile: Profile, seed: Path) -> dict[str, Any]:
    """How many cases of the course's baseline pass by its own rules; compound ones with every right source cited."""
    expected, reference = (_read(seed / f"{name}.json") for name in ("expected", "reference"))
    with TemporaryDirectory() as folder:
        passages = Path(folder) / "passages.jsonl"
        passages.write_text("\n".join(json.dumps(line) for line in reference["passages"]))
        intents = Path(folder) / "intents.toml"
        intents.write_text(shipped_intents("course"))
        pipeline = build_pipeline(profile, passages, intents)
        failed = []
        for case in expected["baseline"]:
            trace = await pipeline.run(case["query"])
            if not _passes(case, trace.intent.in_scope, trace.context, trace.response):
                failed.append(case["query"])
    return {
        "cases": len(expected["baseline"]),
        "passed": len(expected["baseline"]) - len(failed),
        "failed": failed,
    }


def _passes(
    case: Mapping[str, Any],
    in_scope: bool,
    context: RetrievedContext | None,
    response: FormattedResponse,
) -> bool:
    match case["passes_if"]:
        case "the top retrieved passage is doc_refund_p0":
            first = context.passages[:1] if context else ()
            return [passage.passage_id for passage in first] == ["doc_refund_p0"]
        case "in scope":
            return in_scope
        case "at least two source passages are cited":
            cited = {segment.passage_id for segment in response.segments}
            right = (set(either.split("|")) for either in case["also_right"])
            return len(cited) >= 2 and all(cited & either for either in right)
        case other:
            raise Misconfigured(f"the course's baseline has a rule that is not known: {other}")


async def measure_cases(profile: Profile, examples: Path) -> dict[str, Any]:
    """How many of our cases are answered with all that they need."""
    pipelines = {name: build_pipeline(profile, examples / name) for name in FOLDERS}
    failed = []
    lengths = []
    for case in questions.answers():
        trace = await pipelines[case.documents].run(case.question)
        quotes = [plain(segment.text) for segment in trace.response.segments]
        lengths.append(sum(map(len, quotes)))
        if not all(quoted(either, quotes) for either in case.needs):
            failed.append(case.question)
    return {
        "cases": len(lengths),
        "passed": len(lengths) - len(failed),
        "characters": round(sum(lengths) / len(lengths)),
        "failed": failed,
    }


async def measure_examples(profile: Profile, examples: Path) -> dict[str, Any]:
    """Of our examples: answered, answered with the sentence that answers, and answered though nothing does."""
    counts = dict.fromkeys(
        ("answerable", "answered", "right", "unanswerable", "answered_wrongly"), 0
    )
    for name in FOLDERS:
        pipeline = build_pipeline(profile, examples / name)
        for line in (examples / name / "questions.jsonl").read_text("utf-8").splitlines():
            case = json.loads(line)
            response = (await pipeline.run(case["question"])).response
            is_answered = response.status == ANSWERED
            quotes = [plain(segment.text) for segment in response.segments]
            if case["answerable"]:
                counts["answerable"] += 1
                counts["answered"] += is_answered
                counts["right"] += quoted([case["quote"]], quotes)
            else:
                counts["unanswerable"] += 1
                counts["answered_wrongly"] += is_answered
    return {**counts}


def quoted(either: Iterable[str], quotes: Iterable[str]) -> bool:
    """Whether any of the alternatives is in a quote."""
    found = list(quotes)
    return any(plain(need) in quote for need in either for quote in found)


def plain(text: str) -> str:
    """With single blanks."""
    return " ".join(text.split())


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Misconfigured(f"{path}: is not the course's file: {error}") from error
    return found
