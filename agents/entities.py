"""The things that a question can name, and what an answer must say when its source doesn't."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from contracts import Caveat, Entity

from .matching import Matching, occurs

MOST_FOUND = 20
LONGEST_VALUE = 200


@dataclass(frozen=True)
class EntityValue:
    """One canonical value and the words that stand for it."""

    name: str
    value: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class EntityPattern:
    """Values that can't be listed, such as order numbers: what the expression, or its first group, finds."""

    name: str
    expression: re.Pattern[str]

    def found_in(self, text: str) -> list[Entity]:
        """What it finds, each value once, in the order of the text."""
        values: dict[str, None] = {}
        for match in self.expression.finditer(text):
            value = (match[1] if self.expression.groups else match[0]) or ""
            if 0 < len(value.strip()) <= LONGEST_VALUE:
                values[value.strip()] = None
            if len(values) == MOST_FOUND:
                break
        return [Entity(name=self.name, value=value) for value in values]


@dataclass(frozen=True)
class Vocabulary:
    """Every entity value, in listing order. `canonical_only`: a source must use that very word.

    `several`: all values that occur are found, not only the first listed of each entity.
    """

    values: tuple[EntityValue, ...] = ()
    matching: Matching = "substring"
    canonical_only: bool = True
    several: bool = False
    patterns: tuple[EntityPattern, ...] = ()

    def named_in(self, text: str) -> tuple[Entity, ...]:
        """The values whose words occur, in listing order, then what the patterns find."""
        found: list[Entity] = []
        names: set[str] = set()
        for value in self.values:
            if (self.several or value.name not in names) and any(
                occurs(word, text, self.matching) for word in value.words
            ):
                names.add(value.name)
                found.append(Entity(name=value.name, value=value.value))
        for pattern in self.patterns:
            found += pattern.found_in(text)
        return tuple(found)

    def knows(self, entity: Entity) -> bool:
        """Whether the entity is one of the configured values, or of a configured pattern."""
        return self._find(entity) is not None or self._fits(entity)

    def mentions(self, entity: Entity, text: str) -> bool:
        """Whether the text speaks of the entity."""
        known = self._find(entity)
        also = known.words if known is not None and not self.canonical_only else ()
        return any(occurs(word, text, self.matching) for word in (entity.value, *also))

    def caveats(self, entities: Sequence[Entity], text: str) -> tuple[Caveat, ...]:
        """What must be said beside a quote of this text: a caveat for each listed entity it lacks.

        No document speaks of the reader's own order number: what a pattern finds is not asked of a source.
        """
        return tuple(
            Caveat(kind="entity_not_in_source", name=entity.name, values=(entity.value,))
            for entity in entities
            if not self._fits(entity) and not self.mentions(entity, text)
        )

    def options(self, names: Sequence[str]) -> tuple[str, ...]:
        """The values of the first of these entities that has two or more to choose from."""
        for name in names:
            values = tuple(value.value for value in self.values if value.name == name)
            if len(values) > 1:
                return values
        return ()

    def _find(self, entity: Entity) -> EntityValue | None:
        for value in self.values:
            if (value.name, value.value) == (entity.name, entity.value):
                return value
        return None

    def _fits(self, entity: Entity) -> bool:
        return any(pattern.name == entity.name for pattern in self.patterns)
