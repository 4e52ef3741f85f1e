"""Traces as an operator sees them: what a collector is sent by a client and five processes."""

from pathlib import Path

import pytest

from .collector import collecting
from .machine import HANDBOOK, STAGES, Home

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

QUESTION = "Can I get a refund on an annual plan?"
WAY = ("queries", "intents", "contexts", "drafts", "verdicts", "results.answered")


def test_one_question_is_one_trace_through_six_processes(tmp_path: Path) -> None:
    """From the command that asks to the result: each span below the one that caused it, and no word of the text."""
    with collecting() as collector:
        home = Home(tmp_path, collector.variables)
        asked = home.run("ask", "--docs", HANDBOOK, QUESTION, timeout_s=120.0)
        assert asked.returncode == 0, asked.stderr
    found = list(collector.spans())
    services = {service for service, _ in found}
    assert services == {"groundwire-client", *(f"groundwire-{stage}" for stage in STAGES)}
    assert len({span.trace_id for _, span in found}) == 1
    by_name = {span.name: span for _, span in found}
    assert len(by_name) == len(found)
    sent = by_name["send queries"]
    assert sent.parent_span_id == b""
    for stage, taken, given in zip(STAGES, WAY, WAY[1:], strict=False):
        process = by_name[f"process {taken}"]
        assert process.parent_span_id == sent.span_id
        agent, sent = by_name[f"invoke_agent {stage}"], by_name[f"send {given}"]
        assert agent.parent_span_id == sent.parent_span_id == process.span_id
        assert process.start_time_unix_nano <= agent.start_time_unix_nano
        assert agent.end_time_unix_nano <= sent.end_time_unix_nano <= process.end_time_unix_nano
    runs = {QUESTION[at : at + 12].encode() for at in range(len(QUESTION) - 11)}
    assert [run for run in runs for body in collector.bodies if run in body] == []
