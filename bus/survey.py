"""Asking every lane at once: what those say whose server answers, and which lanes are out of reach."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from contracts import Unreachable

from .wire import Wire

T = TypeVar("T")
Asking = Callable[[int], Awaitable[Wire]]
"""The wire of a lane, to be asked for where Unreachable may be raised."""


@dataclass(frozen=True)
class UnreachableLane:
    """A lane whose server doesn't answer. `why`: what was tried, and what came of it."""

    lane: int
    why: str

    def __str__(self) -> str:
        return f"lane {self.lane} is unreachable: {self.why}"


async def survey(
    ask: Callable[[int], Awaitable[T]], lanes: int
) -> tuple[tuple[T, ...], tuple[UnreachableLane, ...]]:
    """Ask each lane; Unreachable, the first lane's, if none answers. What else goes wrong in any is raised."""
    found = await asyncio.gather(*map(ask, range(lanes)), return_exceptions=True)
    answers: list[T] = []
    away: list[UnreachableLane] = []
    for lane, one in enumerate(found):
        if isinstance(one, Unreachable):
            away.append(UnreachableLane(lane, str(one)))
        elif isinstance(one, BaseException):
            raise one
        else:
            answers.append(one)
    if not answers and isinstance(found[0], Unreachable):
        raise found[0]
    return tuple(answers), tuple(away)


def require_all(unreachable: tuple[UnreachableLane, ...]) -> None:
    """Unreachable, for who needs every lane, if one of them didn't answer."""
    if unreachable:
        raise Unreachable(f"lane {unreachable[0].lane}: {unreachable[0].why}")
