"""Random picks in place of retrieval: does it matter what is found?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from cheatsheet.context.render import bullets_section, experience_sections
from cheatsheet.evaluation.controls.base import Control, OverRetrieval, drawn
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.experience import Experience, Query, experience_id
from cheatsheet.memory.view import MemoryView, Scored
from cheatsheet.mode import Recalled
from modes.retrieval import restates_experiences

RANDOM: Final = "random"

# So many draws for each experience wanted. Where more of them than that hit numbers that are archived or were drawn
# before, reading the whole list is cheaper than drawing on.
_DRAWS_EACH: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomPicks(OverRetrieval):
    """Shows as many bullets and as many experiences as retrieval would show, drawn from the whole memory by a hash.

    They may be the ones that retrieval finds, as chance has it. Bullets that retrieval never shows, since they only
    restate experiences, are not drawn either. Texts differ in length, so that the contexts differ in tokens.
    """

    name: str = RANDOM

    def recall(self, query: Query, memory: MemoryView) -> Recalled:
        found = self._found(query, memory)
        bullets = self._bullets(query, memory, len(found.bullets))
        experiences = self._experiences(query, memory, len(found.experiences))
        return Recalled(
            sections=(bullets_section(bullets, shorten="drop-first"), *experience_sections(experiences)),
            bullets=tuple(Scored(bullet, 0.0) for bullet in bullets),
            experiences=tuple(Scored(experience, 0.0) for experience in experiences),
        )

    def _bullets(self, query: Query, memory: MemoryView, count: int) -> list[Bullet]:
        if not count:
            return []
        order = sorted(memory.bullets(), key=lambda bullet: self._draw(query, bullet.id))
        return list(islice((bullet for bullet in order if not restates_experiences(bullet, memory)), count))

    def _experiences(self, query: Query, memory: MemoryView, count: int) -> list[Experience]:
        """Drawn by their numbers, so that a large memory is not read for a few of them."""
        if not count:
            return []
        picked = list(islice(self._by_number(query, memory, _DRAWS_EACH * count), count))
        if len(picked) == count:
            return picked
        return sorted(memory.experiences(), key=lambda experience: self._draw(query, experience.id))[:count]

    def _by_number(self, query: Query, memory: MemoryView, draws: int) -> Iterator[Experience]:
        (newest,) = memory.experiences(limit=1)
        highest = int(newest.id.rpartition("-")[2])
        for id in _unlike(experience_id(self._draw(query, draw) % highest + 1) for draw in range(draws)):
            experience = memory.experience(id)
            if experience is not None:
                yield experience

    def _draw(self, query: Query, what: object) -> int:
        return drawn(self.ground.seed, query.text, what)


def _unlike(ids: Iterable[str]) -> Iterator[str]:
    """Each once."""
    yield from dict.fromkeys(ids)


CONTROL: Final = Control(
    name=RANDOM,
    tests="Finding what is similar matters: the same number of memories, picked at random, helps less.",
    make=lambda ground: RandomPicks(ground=ground),
)
