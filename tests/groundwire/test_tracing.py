"""Traces: which spans there are, how they hang together, which of them are kept."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from bus_system import NOOP, STAGES, FakeBackend, Lines, System, query
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_ON,
    DEFAULT_ON,
    Decision,
    ParentBasedTraceIdRatio,
    Sampler,
    SamplingResult,
    TraceIdRatioBased,
)
from opentelemetry.trace import SpanKind, StatusCode

from bus import Bus
from bus.delivery import fields_of
from contracts import Permanent, Query, Transient, Value, ids
from groundwire.doctor.machine import judge_traces
from groundwire.tracing import is_wanted, tracing
from groundwire.tracing.origin import ClientSpans
from groundwire.tracing.sampling import deciding, is_derived
from groundwire.tracing.spans import SpanWatch

QUESTION = "Where do the guaranteed marmots sleep?"


class Traced:
    """A system of five watched workers on fakeredis, with every span that it exports."""

    def __init__(self, system: System, sampler: Sampler = DEFAULT_ON) -> None:
        self.system = system
        self._memory = InMemorySpanExporter()
        processor = SimpleSpanProcessor(self._memory)
        self._provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self.application = self._provider.get_tracer("application")
        resource = Resource({})
        self.watches = {
            stage: SpanWatch(stage, processor, resource, deciding(sampler)) for stage in STAGES
        }
        self.bus = Bus(system.backend, system.config, origin=ClientSpans(self._provider))

    async def run(
        self, *queries: Query, bus: Bus | None = None, before: Sequence[str] = (), **handlers: Any
    ) -> list[str]:
        """Submit in one call, wait for all results, and for those submitted before, stop."""
        workers = [
            self.system.start(stage, handlers.get(stage), watch=self.watches[stage])
            for stage in STAGES
        ]
        asked = await (bus or self.bus).submit_many(queries)
        for query_id in (*before, *asked):
            await self.system.bus.result(query_id)
        for running in workers:
            await running.stop()
        return asked

    @property
    def spans(self) -> list[ReadableSpan]:
        """All that were exported, in the order of their beginnings."""
        return sorted(self._memory.get_finished_spans(), key=lambda span: span.start_time or 0)

    def named(self, name: str) -> list[ReadableSpan]:
        """Those of a name."""
        return [span for span in self.spans if span.name == name]


def own(span: ReadableSpan) -> int:
    """A span's id."""
    return int(span.context.span_id)


def parent(span: ReadableSpan) -> int | None:
    """Its parent's."""
    return None if span.parent is None else span.parent.span_id


def told(span: ReadableSpan) -> Mapping[str, Any]:
    """Its attributes."""
    return dict(span.attributes or {})


async def test_a_query_is_one_trace_from_the_caller_through_five_stages() -> None:
    """Each `process` is a child of the `send` before it, and links to it; the first `send` of the caller's span."""
    async with System(FakeBackend()) as system:
        traced = Traced(system)
        with traced.application.start_as_current_span("ask") as caller:
            (query_id,) = await traced.run(query(QUESTION))
        await traced.bus.close()
    by_id = {own(span): span for span in traced.spans}
    assert {span.context.trace_id for span in traced.spans} == {caller.get_span_context().trace_id}
    way = [*("queries", "intents", "contexts", "drafts", "verdicts"), "results.answered"]
    (sent,) = traced.named("send queries")
    assert parent(sent) == caller.get_span_context().span_id
    for stage, taken, given in zip(STAGES, way, way[1:], strict=False):
        (process,) = traced.named(f"process {taken}")
        (agent,) = traced.named(f"invoke_agent {stage}")
        (sending,) = traced.named(f"send {given}")
        assert parent(process) == own(sent)
        assert [link.context.span_id for link in process.links] == [own(sent)]
        assert parent(agent) == parent(sending) == own(process)
        assert (process.kind, agent.kind, sending.kind) == (
            *(SpanKind.CONSUMER, SpanKind.INTERNAL, SpanKind.PRODUCER),
        )
        assert told(process)["messaging.consumer.group.name"] == stage
        assert told(agent)["gen_ai.agent.name"] == stage
        assert told(process)["messaging.message.id"] == told(sent)["messaging.message.id"]
        sent = sending
    assert len(by_id) == 1 + 1 + 3 * len(STAGES)
    ours = [span for span in traced.spans if "messaging.system" in told(span)]
    assert {told(span)["messaging.message.conversation_id"] for span in ours} == {query_id}
    assert "marmots" not in "".join(span.to_json() for span in traced.spans)


async def test_each_attempt_is_a_span_and_a_failure_is_an_error() -> None:
    """Retried, then dead: two `process` of one parent, with the class of what was raised and the reason."""

    async def critic(_: object) -> Value:
        if len(traced.named("process drafts")) == 0:
            raise Transient(QUESTION)
        raise Permanent(QUESTION)

    async with System(FakeBackend()) as system:
        traced = Traced(system)
        await traced.run(query(QUESTION), critic=critic)
        await traced.bus.close()
    (sent,) = traced.named("send drafts")
    first, second = traced.named("process drafts")
    assert parent(first) == parent(second) == own(sent)
    assert own(first) != own(second)
    assert [told(span)["groundwire.attempt"] for span in (first, second)] == [1, 2]
    assert told(first)["error.type"] == "Transient"
    assert (told(second)["error.type"], told(second)["groundwire.reason"]) == (
        *("Permanent", "permanent"),
    )
    assert {span.status.status_code for span in (first, second)} == {StatusCode.ERROR}
    (failed,) = traced.named("send results.failed")
    assert parent(failed) == own(second)
    assert "marmots" not in "".join(span.to_json() for span in traced.spans)


async def test_a_batch_has_a_span_for_each_message() -> None:
    """`create` is what a message's trace goes on from; `send` counts them and links to each."""
    async with System(FakeBackend()) as system:
        traced = Traced(system)
        await traced.run(query(), query())
        await traced.bus.close()
    created = traced.named("create queries")
    (sent,) = traced.named("send queries")
    assert (sent.kind, told(sent)["messaging.batch.message_count"]) == (SpanKind.CLIENT, 2)
    assert {link.context.span_id for link in sent.links} == {own(span) for span in created}
    begun = traced.named("process queries")
    assert {parent(span) for span in begun} == {own(span) for span in created}


async def test_a_query_that_brings_its_trace_keeps_it() -> None:
    """With or without a tracing client: who made that context has the span that ours hang below."""
    traceparent = f"00-{'a' * 32}-{'b' * 16}-01"
    async with System(FakeBackend()) as system:
        traced = Traced(system)
        await traced.run(query().model_copy(update={"trace": traceparent}))
        await traced.run(query().model_copy(update={"trace": traceparent}), bus=system.bus)
        await traced.bus.close()
    begun = traced.named("process queries")
    assert [parent(span) for span in begun] == [int("b" * 16, 16)] * 2
    assert {span.context.trace_id for span in begun} == {int("a" * 32, 16)}


async def test_without_a_tracing_client_the_first_stage_is_the_root() -> None:
    """Its parent would be a span that nobody made; the rest of the trace is whole."""
    async with System(FakeBackend()) as system:
        traced = Traced(system)
        await traced.run(query(), bus=system.bus)
        await traced.bus.close()
    known = {own(span) for span in traced.spans}
    roots = [span for span in traced.spans if parent(span) not in known]
    assert [(span.name, parent(span)) for span in roots] == [("process queries", None)]


async def test_what_a_handler_traces_is_below_its_agent() -> None:
    """A library that makes spans in a handler, of a model it asks, finds the agent's span active."""

    async def critic(draft: object) -> Value:
        with traced.application.start_as_current_span("chat"):
            return await NOOP["critic"](draft)

    async with System(FakeBackend()) as system:
        traced = Traced(system)
        await traced.run(query(), critic=critic)
        await traced.bus.close()
    (chat,) = traced.named("chat")
    (agent,) = traced.named("invoke_agent critic")
    assert parent(chat) == own(agent)
    assert chat.context.trace_id == agent.context.trace_id


async def test_vendors_state_travels_with_the_trace() -> None:
    """From the caller's context to the last span; where there is none, no message has a word of it."""
    state = trace.TraceState([("vendor", "x1")])
    remote = trace.SpanContext(int("a" * 32, 16), 7, True, trace.TraceFlags(1), state)
    async with System(FakeBackend()) as system:
        traced = Traced(system)
        with trace.use_span(trace.NonRecordingSpan(remote)):
            await traced.run(query())
        await system.bus.submit(query())
        entries = await system.call("XRANGE", system.keys.of("queries"), "-", "+")
        await traced.bus.close()
    (last,) = traced.named("send results.answered")
    assert last.context.trace_state.to_header() == "vendor=x1"
    ((_, flat),) = entries
    assert "tracestate" not in json.loads(fields_of(flat)[b"event"])


@pytest.mark.parametrize("sampler", [TraceIdRatioBased(0.5), ParentBasedTraceIdRatio(0.5)])
async def test_a_share_of_the_traces_is_kept_whole(sampler: Sampler) -> None:
    """Of queries in a batch and of single ones: what the client keeps all stages keep, and nothing else."""
    async with System(FakeBackend()) as system:
        traced = Traced(system, sampler)
        single = [await traced.bus.submit(query()) for _ in range(12)]
        await traced.run(*(query() for _ in range(32)), before=single)
        await traced.bus.close()
    begun = traced.named("create queries") + [
        span for span in traced.named("send queries") if span.kind is SpanKind.PRODUCER
    ]
    kept = {span.context.trace_id for span in begun}
    assert 0 < len(kept) < 44
    assert len(begun) == len(kept)
    assert all(span.parent is None for span in begun)
    for stream in ("queries", "intents", "contexts", "drafts", "verdicts"):
        assert {span.context.trace_id for span in traced.named(f"process {stream}")} == kept


async def test_a_query_submitted_within_a_span_is_sampled_as_that_is() -> None:
    """Whoever traces the caller has decided."""
    async with System(FakeBackend()) as system:
        traced = Traced(system, ParentBasedTraceIdRatio(0.0))
        sampled = trace.SpanContext(int("a" * 32, 16), 7, True, trace.TraceFlags(1))
        with trace.use_span(trace.NonRecordingSpan(sampled)):
            await traced.run(query(), query())
        await traced.bus.close()
    assert len(traced.named("create queries")) == 2
    assert {span.context.trace_id for span in traced.spans} == {sampled.trace_id}
    assert len(traced.named("send results.answered")) == 2


@pytest.mark.parametrize("rate", [0.0, 1e-19, 0.5, 1.0])
def test_a_trace_is_kept_by_its_id_as_the_library_would(rate: float) -> None:
    """At both ends of the share, and of the ids."""
    sampler = TraceIdRatioBased(rate)
    edge = max(sampler.bound, 1)
    for half in {0, 1, edge - 1, min(edge, 2**64 - 1), 2**63, 2**64 - 1}:
        said = sampler.should_sample(None, half, "x").decision is Decision.RECORD_AND_SAMPLE
        assert deciding(sampler)(f"00-{half:032x}-{'b' * 16}-01", "0-a") == said


class EvenOnly(Sampler):
    """A sampler of somebody's own."""

    def should_sample(
        self, parent_context: Any, trace_id: int, *_: Any, **__: Any
    ) -> SamplingResult:
        """Every other trace."""
        return SamplingResult(Decision.DROP if trace_id % 2 else Decision.RECORD_AND_SAMPLE)

    def get_description(self) -> str:
        """Its name."""
        return "EvenOnly"


async def test_a_sampler_that_nobody_knows_is_asked() -> None:
    """By the client for each query, and by each stage; the traces are whole all the same."""
    async with System(FakeBackend()) as system:
        traced = Traced(system, EvenOnly())
        await traced.run(*(query() for _ in range(20)))
        await traced.bus.close()
    kept = {span.context.trace_id for span in traced.named("create queries")}
    assert 0 < len(kept) < 20
    assert {trace_id % 2 for trace_id in kept} == {0}
    assert {span.context.trace_id for span in traced.named("process drafts")} == kept


def derived(query_id: str) -> tuple[str, str]:
    """The traceparent of a query that nobody traced, and its id."""
    return f"00-{ids.trace_id(query_id)}-{'b' * 16}-01", query_id


def test_all_stages_keep_the_same_share_of_traces() -> None:
    """By the id of a trace that nobody sampled yet, whatever the sampler; every process comes to the same."""
    for sampler in (ParentBasedTraceIdRatio(0.25), TraceIdRatioBased(0.25)):
        decide, again = deciding(sampler), deciding(sampler)
        found = [decide(*derived(f"0-{number}")) for number in range(2000)]
        assert found == [again(*derived(f"0-{number}")) for number in range(2000)]
        assert 400 < sum(found) < 600
        assert all(is_derived(*derived(f"0-{number}")) for number in range(2000))
        plain = [
            sampler.should_sample(None, int(ids.trace_id(f"0-{n}"), 16), "x") for n in range(2000)
        ]
        assert found == [one.decision is Decision.RECORD_AND_SAMPLE for one in plain]


@pytest.mark.parametrize(("flags", "kept"), [("01", True), ("00", False), ("03", True)])
def test_a_caller_who_samples_has_decided(flags: str, kept: bool) -> None:
    """Unless the sampler doesn't go by the parent."""
    traceparent = f"00-{'a' * 32}-{'b' * 16}-{flags}"
    assert deciding(ParentBasedTraceIdRatio(0.0))(traceparent, "0-a") == kept
    assert deciding(ALWAYS_ON)(traceparent, "0-a")
    assert not is_derived(traceparent, "0-a")


def test_a_message_without_a_trace_is_in_none() -> None:
    """A stranger's."""
    assert not deciding(ALWAYS_ON)("00-what?", "0-a")


@pytest.mark.parametrize(
    ("env", "wanted", "level"),
    [
        ({}, False, "ok"),
        ({"OTEL_SERVICE_NAME": "x"}, False, "ok"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, True, "ok"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, True, "ok"),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True, "ok"),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, True, "error"),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "x"}, False, "ok"),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "x"}, False, "ok"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "x", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            True,
            "error",
        ),
    ],
)
def test_the_standard_variables_switch_traces_on(
    env: Mapping[str, str], wanted: bool, level: str
) -> None:
    """Doctor says what can't be had, and a worker does without it."""
    assert is_wanted(env) == wanted
    assert judge_traces(env).level == level
    if level == "error":
        log = Lines()
        with tracing(env, log, role="critic") as opened:
            assert opened is None
        assert log.count("traces.off") == 1


def test_a_missing_extra_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the name of what to install."""
    monkeypatch.setattr("groundwire.tracing.wanted.PACKAGES", ("opentelemetry.nowhere.near",))
    found = judge_traces({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"})
    assert (found.level, "groundwire[otel]" in found.what) == ("error", True)
