"""Wiring: the one place that joins agents, corpus and bus, for worker processes and in process.

Imports nothing of a stage that isn't asked for: five processes start with this.
"""

from .assembly import (
    Assembly,
    assemble,
    chunking_of,
    endpoint_of,
    load_profile,
    stand_in,
)
from .handlers import STAGES, Handler, build_agents, build_handler, build_pipeline
from .ingestion import Intake, grow_corpus, ingest_corpus, plan_ingestion
from .retrieval import Retriever, build_retriever
from .support import build_support
from .workers import await_corpus, build_worker, following, keeping_warm, place_of

__all__ = [
    "STAGES",
    "Assembly",
    "Handler",
    "Intake",
    "Retriever",
    "assemble",
    "await_corpus",
    "build_agents",
    "build_handler",
    "build_pipeline",
    "build_retriever",
    "build_support",
    "build_worker",
    "chunking_of",
    "endpoint_of",
    "following",
    "grow_corpus",
    "ingest_corpus",
    "keeping_warm",
    "load_profile",
    "place_of",
    "plan_ingestion",
    "stand_in",
]
