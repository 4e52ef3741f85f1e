"""A rolling upgrade in small: one message type has a next version, which the present workers can't read."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal

from contracts import TOPOLOGY, Intent, Stage, Value


class NewerIntent(Value):
    """The next version of an intent."""

    version: ClassVar[int] = 2

    type: Literal["intent"] = "intent"
    intent: Intent


_UNDERSTAND, _RETRIEVE = TOPOLOGY.stage("understand"), TOPOLOGY.stage("retrieve")

PRESENT: Mapping[str, Stage] = {stage.name: stage for stage in TOPOLOGY.stages} | {
    "understand": replace(
        _UNDERSTAND, emits={**_UNDERSTAND.emits, NewerIntent: _UNDERSTAND.emits[Intent]}
    )
}
"""Every stage by name; `understand` is new already and emits both versions."""

NEWER: Mapping[str, Stage] = {
    "retrieve": replace(_RETRIEVE, accepts=(*_RETRIEVE.accepts, NewerIntent))
}
"""The stages that can read the next version."""
