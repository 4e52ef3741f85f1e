"""Who consumes and who emits what: the one table that names, groups and pictures come from."""

from collections.abc import Mapping
from dataclasses import dataclass

from .answer import (
    Approved,
    DraftAnswer,
    FormattedResponse,
    Rejected,
    RetrievedContext,
    Status,
)
from .base import Value
from .query import Clarification, Intent, OutOfScope, Query

RESULTS: Mapping[Status, str] = {
    "approved": "results.answered",
    "approved_fallback": "results.answered",
    "clarification_needed": "results.answered",
    "out_of_scope": "results.out_of_scope",
    "rejected": "results.rejected",
    "failed": "results.failed",
}
OUTCOMES = ("answered", "out_of_scope", "rejected", "failed")


@dataclass(frozen=True)
class Stage:
    """One agent's place in the flow. Its consumer group has the stage's name."""

    name: str
    consumes: str
    accepts: tuple[type[Value], ...]
    emits: Mapping[type[Value], str]

    @property
    def next_streams(self) -> tuple[str, ...]:
        """The work streams this stage writes to; empty for the last stage."""
        return tuple(dict.fromkeys(self.emits.values()))

    @property
    def is_last(self) -> bool:
        """Whether this stage writes results."""
        return not self.emits


@dataclass(frozen=True)
class Topology:
    """The whole flow, first stage first."""

    stages: tuple[Stage, ...]

    def stage(self, name: str) -> Stage:
        """The stage of this name; KeyError names the ones that exist."""
        for stage in self.stages:
            if stage.name == name:
                return stage
        raise KeyError(f"no stage {name!r}; there are: {', '.join(s.name for s in self.stages)}")

    @property
    def entry(self) -> Stage:
        """The stage that queries enter by."""
        return self.stages[0]

    @property
    def work_streams(self) -> tuple[str, ...]:
        """Every stream that holds unfinished work, in flow order."""
        return tuple(stage.consumes for stage in self.stages)


TOPOLOGY = Topology(
    (
        Stage(
            "understand",
            "queries",
            (Query,),
            {Intent: "intents", OutOfScope: "verdicts", Clarification: "verdicts"},
        ),
        Stage("retrieve", "intents", (Intent,), {RetrievedContext: "contexts"}),
        Stage("synthesize", "contexts", (RetrievedContext,), {DraftAnswer: "drafts"}),
        Stage("critic", "drafts", (DraftAnswer,), {Approved: "verdicts", Rejected: "verdicts"}),
        Stage("format", "verdicts", (Approved, Rejected, OutOfScope, Clarification), {}),
    )
)


def result_stream(response: FormattedResponse) -> str:
    """The result stream that a response leaves on."""
    return RESULTS[response.status]


def outcome_of(status: Status) -> str:
    """The counter of a status: `answered`, `out_of_scope`, `rejected` or `failed`."""
    return RESULTS[status].removeprefix("results.")
