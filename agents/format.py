"""The last agent: what the reader sees, written anew from what the critic approved."""

from typing import Never

from contracts import (
    Approved,
    ChannelPayload,
    Citation,
    Clarification,
    FormattedResponse,
    OutOfScope,
    Rejected,
    Segment,
)

from .rendering import render
from .wording import Wording


async def format(  # noqa: A001 - the stage's name
    verdict: Approved | Rejected | OutOfScope | Clarification, *, wording: Wording
) -> FormattedResponse:
    """Turn a verdict into the one response of its query."""
    query = verdict.intent.query
    payload = payload_of(verdict, wording)
    return FormattedResponse(
        query_id=query.query_id,
        session_id=query.session_id,
        channel=query.channel,
        status=payload.status,
        label=verdict.intent.label,
        confidence=verdict.intent.confidence,
        display_text=render(payload, query.channel),
        channel_json=payload,
        segments=verdict.segments if isinstance(verdict, Approved) else (),
        corpus_version=(
            verdict.corpus_version if isinstance(verdict, Approved | Rejected) else None
        ),
        failed_checks=(
            tuple(check.name for check in verdict.checks if not check.passed)
            if isinstance(verdict, Rejected)
            else ()
        ),
    )


def payload_of(
    verdict: Approved | Rejected | OutOfScope | Clarification, wording: Wording
) -> ChannelPayload:
    """The one value that the text and the JSON of a response are both written from."""
    match verdict:
        case Approved():
            return ChannelPayload(
                status=verdict.label,
                message="\n\n".join(segment.text for segment in verdict.segments)
                or wording.fallback,
                citations=tuple(
                    _cite(number, segment, wording)
                    for number, segment in enumerate(verdict.segments, 1)
                ),
                caveats=tuple(wording.of_caveat(caveat) for caveat in verdict.caveats),
                related=verdict.related,
            )
        case Rejected():
            return ChannelPayload(status="rejected", message=wording.rejected)
        case OutOfScope():
            return ChannelPayload(
                status="out_of_scope", message=wording.of_out_of_scope(verdict.reason)
            )
        case Clarification():
            return ChannelPayload(
                status="clarification_needed",
                message=wording.clarification,
                options=verdict.options,
            )
        case _:
            raise _refusal(verdict)


def _refusal(message: Never) -> TypeError:
    """The error for what is no verdict. It names the type alone: `assert_never` would print what is in it."""
    return TypeError(f"format has no response for a {type(message).__name__}")


def _cite(number: int, segment: Segment, wording: Wording) -> Citation:
    return Citation(
        number=number,
        doc_id=segment.doc_id,
        passage_id=segment.passage_id,
        title=segment.title,
        source=segment.source,
        heading_path=segment.heading_path,
        char_start=segment.char_start,
        char_end=segment.char_end,
        quote=segment.text,
        link=wording.of_link(segment),
    )
