"""What all workers of a profile need, brought into a process that will be forked into them."""

import importlib

from contracts import Misconfigured

from .assembly import load_profile

MODULES = (
    "agents.pipeline",
    "agents.explanation",
    "bus",
    "groundwire.client",
    "groundwire.corpus",
    "groundwire.logs",
    "groundwire.loop",
    "groundwire.supervisor",
    "groundwire.wiring.classifier",
    "groundwire.wiring.familiarity",
    "groundwire.wiring.handlers",
    "groundwire.wiring.indexes",
    "groundwire.wiring.ports",
    "groundwire.wiring.ranking",
    "groundwire.wiring.synthesis",
    "groundwire.wiring.workers",
    "groundwire.worker",
)


def preload(name: str) -> None:
    """Import the handlers' modules, and open the models of a profile that are files of this machine.

    A profile that can't be loaded is left for each worker to complain of, in its own log.
    """
    for module in MODULES:
        importlib.import_module(module)
    from groundwire.models.choice import open_shipped

    try:
        profile = load_profile(name)
    except Misconfigured:
        return
    answering = {profile.synthesize.likeness, profile.synthesize.meaning}
    for embedder in {profile.retrieve.embedder, *profile.understand.embedders, *answering}:
        open_shipped(embedder)
