"""What retrieval shows, in another order: does it matter that the most similar stands last?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from cheatsheet.context.compiled import part_ids
from cheatsheet.context.section import ChatTurn, Item, Section
from cheatsheet.evaluation.controls.base import Control, OverRetrieval, drawn
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.experience import Experience, Query
from cheatsheet.memory.view import MemoryView, Scored
from cheatsheet.mode import Recalled

SHUFFLED: Final = "shuffled"

PartT = TypeVar("PartT", bound=Item | ChatTurn)
KnownT = TypeVar("KnownT", Bullet, Experience)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shuffled(OverRetrieval):
    """Puts the bullets, the examples and the mistakes that retrieval found into an order given by a hash.

    The most similar of each never stands last. What is shown is the same as long as all of it fits: where the budget is
    short, those that now stand first are left out.
    """

    name: str = SHUFFLED

    def recall(self, query: Query, memory: MemoryView) -> Recalled:
        found = self._found(query, memory)
        sections = tuple(self._shuffled(section, query) for section in found.sections)
        ids = [id for section in sections for id in part_ids(section)]
        places = {id: place for place, id in enumerate(ids)}
        return replace(
            found,
            sections=sections,
            bullets=_by_place(found.bullets, places),
            experiences=_by_place(found.experiences, places),
        )

    def _shuffled(self, section: Section, query: Query) -> Section:
        return replace(section, items=self._order(section.items, query), turns=self._order(section.turns, query))

    def _order(self, parts: Sequence[PartT], query: Query) -> tuple[PartT, ...]:
        """Another order of parts whose last one is the most similar; alone, it stays."""
        order = sorted(parts, key=lambda part: drawn(self.ground.seed, query.text, part.id))
        if parts and order[-1] is parts[-1]:
            order[0], order[-1] = order[-1], order[0]
        return tuple(order)


def _by_place(hits: Sequence[Scored[KnownT]], places: Mapping[str, int]) -> tuple[Scored[KnownT], ...]:
    return tuple(sorted(hits, key=lambda hit: places[hit.value.id]))


CONTROL: Final = Control(
    name=SHUFFLED,
    tests="The order of what is shown matters: the most similar helps most where it stands next to the question.",
    make=lambda ground: Shuffled(ground=ground),
)
