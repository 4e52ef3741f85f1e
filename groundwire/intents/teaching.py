"""From a lesson to a trained classifier, kept by the digest of all that it depends on."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .learned import Embedder, Learned, digest_of, read, save
from .questions import Lesson, foreign
from .training import Examples, train

FOLDER = "classifiers"
MOST_KEPT = 8


def teach(lesson: Lesson, embedders: Sequence[Embedder]) -> Learned:
    """A classifier of the lesson."""
    return train(
        Examples.of(lesson.examples, lesson.names, embedders),
        Examples.of(lesson.keywords, lesson.names, embedders),
        keep=lesson.keep,
        foreign=Examples.of(
            [(text, lesson.names[0]) for text in foreign()], lesson.names, embedders
        ),
    )


def taught(lesson: Lesson, embedders: Sequence[Embedder], root: Path | None) -> Learned:
    """The classifier that is kept under `root`, or one trained now and kept there."""
    if root is None:
        return teach(lesson, embedders)
    parts = {**vars(lesson), "embedders": [embedder.model_id for embedder in embedders]}
    path = root / FOLDER / f"{digest_of(parts)}.npz"
    known = read(path)
    if known is None:
        path.parent.mkdir(parents=True, exist_ok=True)
        known = teach(lesson, embedders)
        with suppress(
            FileNotFoundError
        ):  # the corpus was removed meanwhile: it must not come back as a folder of this
            save(known, path)
            _prune(path.parent)
    return known


def _prune(folder: Path) -> None:
    """Drop all but the newest: each is made again when it is asked for."""
    kept = sorted(folder.glob("*.npz"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for path in kept[MOST_KEPT:]:
        path.unlink(missing_ok=True)
