"""The understand agent's sense of what documents are about: the scope model of the current snapshot."""

import asyncio
import shutil
import tempfile
import weakref
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from groundwire.profiles import Profile

from .opened import Opened

if TYPE_CHECKING:
    from agents.understand import Familiarity
    from groundwire.corpus import Part, Snapshot
    from groundwire.corpus.scope import ScopeModel, ScopePart
    from groundwire.models import Embedder

STATIC = "wordllama"
"""Embeds thousands of sentences in a second: what is made of it is there with its documents."""


def scope_parts(profile: Profile, root: Path) -> "tuple[Part, ...]":
    """The scope models that ingestion makes where no intents are configured: a quick one, and a better one after it."""
    from groundwire.corpus.scope import NEURAL, ScopePart
    from groundwire.models import Cached, open_embedder

    quick = _quick_part(profile, root / "scope.sqlite")
    name = profile.retrieve.embedder
    if name in ("none", "hashing", "http", STATIC):  # `http`: all sentences are too many to ask for
        return (quick,)
    model = open_embedder(name)
    said = Cached(model, root / "sentences.sqlite") if profile.retrieve.sentences else model
    slow = ScopePart(
        profile.terms.stopwords,
        embedder=Cached(model, root / "vectors.sqlite"),
        sentences=Cached(said, root / "scope.sqlite"),
        is_quick=False,
        name=NEURAL,
    )
    return quick, slow


def _quick_part(profile: Profile, cache: Path) -> "ScopePart":
    from groundwire.corpus.scope import ScopePart
    from groundwire.models import Cached, missing, open_embedder

    if profile.retrieve.embedder == "none" or missing(STATIC):
        return ScopePart(profile.terms.stopwords)
    static = Cached(open_embedder(STATIC), cache)
    return ScopePart(profile.terms.stopwords, static, static)


class Scopes:
    """Scope models by version, opened or, for documents in memory, made at the first question."""

    def __init__(self, profile: Profile) -> None:
        self._opened = Opened(partial(_open, profile))

    def of(self, snapshot: "Snapshot") -> "Familiarity":
        """The port, for one version."""

        async def is_near(text: str, labels: tuple[str, ...]) -> bool:
            return await asyncio.to_thread(self._is_near, snapshot, text, labels)

        return is_near

    def _is_near(self, snapshot: "Snapshot", text: str, labels: tuple[str, ...]) -> bool:
        return self._opened.of(snapshot).is_near(text, labels)


class _Scope:
    """A scope model with the embedder that its vectors are of; by words where that isn't installed."""

    def __init__(self, model: "ScopeModel", embedder: "Embedder | None") -> None:
        self._model = model
        self._embedder = embedder

    def is_near(self, text: str, labels: tuple[str, ...]) -> bool:
        if self._embedder is None:
            return self._model.by_words(text, labels).is_enough
        vector = self._embedder.embed([text])[0]
        return self._model.by_vector(text, vector, labels).is_enough


def _open(profile: Profile, snapshot: "Snapshot") -> _Scope:
    """The better of the models that the snapshot has and this process can ask; else one made now."""
    from groundwire.corpus.scope import NEURAL, SCOPE, ScopeModel

    for part, name in ((NEURAL, profile.retrieve.embedder), (SCOPE, STATIC)):
        folder = snapshot.part(part)
        embedder = None if folder is None else _installed(name)
        if folder is not None and embedder is not None:
            model = ScopeModel.open(folder)
            if model.model_id == embedder.model_id:
                return _Scope(model, embedder)
    folder = snapshot.part(SCOPE)
    if folder is not None:
        return _Scope(ScopeModel.open(folder), None)
    return _made(snapshot, profile)


def _installed(name: str) -> "Embedder | None":
    from groundwire.models import missing, open_embedder

    if name in ("none", "hashing") or missing(name):
        return None
    return open_embedder(name)


def _made(snapshot: "Snapshot", profile: Profile) -> _Scope:
    from groundwire.corpus import unheard
    from groundwire.corpus.scope import ScopeModel

    beside = Path(tempfile.mkdtemp(prefix="groundwire-scope-"))
    part = _quick_part(profile, beside / "cache.sqlite")
    part.build(beside / part.name, snapshot, None, unheard)
    model = ScopeModel.open(beside / part.name)
    scope = _Scope(model, None if part.embedder is None else _installed(STATIC))
    weakref.finalize(scope, shutil.rmtree, beside, ignore_errors=True)
    return scope
