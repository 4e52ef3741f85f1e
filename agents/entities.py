"""The things that a question can name, and what an answer must say when its source doesn't."""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts import Caveat, Entity

from .matching import Matching, occurs


@dataclass(frozen=True)
class EntityValue:
    """One canonical value and the words that stand for it."""

    name: str
    value: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Vocabulary:
    """Every entity value, in listing order. `canonical_only`: a source must use that very word."""

    values: tuple[EntityValue, ...] = ()
    matching: Matching = "substring"
    canonical_only: bool = True

    def named_in(self, text: str) -> tuple[Entity, ...]:
        """One value per entity: the one whose word is listed first of those that occur."""
        found: dict[str, Entity] = {}
        for value in self.values:
            if value.name not in found and any(
                occurs(word, text, self.matching) for word in value.words
            ):
                found[value.name] = Entity(name=value.name, value=value.value)
        return tuple(found.values())

    def knows(self, entity: Entity) -> bool:
        """Whether the entity is one of the configured values."""
        return self._find(entity) is not None

    def mentions(self, entity: Entity, text: str) -> bool:
        """Whether the text speaks of the entity."""
        known = self._find(entity)
        also = known.words if known is not None and not self.canonical_only else ()
        return any(occurs(word, text, self.matching) for word in (entity.value, *also))

    def caveats(self, entities: Sequence[Entity], text: str) -> tuple[Caveat, ...]:
        """What must be said beside a quote of this text: a caveat for each entity it lacks."""
        return tuple(
            Caveat(kind="entity_not_in_source", name=entity.name, values=(entity.value,))
            for entity in entities
            if not self.mentions(entity, text)
        )

    def _find(self, entity: Entity) -> EntityValue | None:
        for value in self.values:
            if (value.name, value.value) == (entity.name, entity.value):
                return value
        return None
