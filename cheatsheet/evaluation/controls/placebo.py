"""As much memory as retrieval shows, about something else: is it what the memory says that helps, or that it is there?

A longer prompt with examples changes answers by itself: it shows the form of an answer, and brings the scaffold for
notes. The placebo has all of that and none of what was learnt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from cheatsheet.context.layout import Meter, indented
from cheatsheet.context.section import ChatTurn, Item, Section
from cheatsheet.evaluation.controls.base import Control, OverRetrieval, drawn
from cheatsheet.evaluation.controls.unrelated import Corpus, Supply, unrelated_corpus
from cheatsheet.memory.experience import Query
from cheatsheet.memory.view import MemoryView
from cheatsheet.mode import Recalled

PLACEBO: Final = "placebo"

# Tokens of parts do not quite add up where parts are joined; each round makes up for what the one before missed.
_ROUNDS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Placebo(OverRetrieval):
    """Shows unrelated matter of the shape and the length of what retrieval would show.

    There is a statement for every bullet, an example for every example, a mistake for every mistake, each of as many
    tokens as the engine's counter gives to what it stands for, and under the same headings. The whole has the tokens of
    the whole, give or take two, unless its parts are so short that no words, or none of the choices, are as short.
    Where the budget is short, this context is cut like the real one, at most one part earlier or later.

    None of it is in the memory, so that none is tagged as helpful (M3). Bullets have no ids here: a model that names
    one as used would speak of another bullet that is in the memory.

    Where a question has choices, examples are answered by some of these, drawn by a hash: the real ones show the form
    of an answer, and so do these. Else they are answered by a word or two.
    """

    corpus: Corpus
    name: str = PLACEBO

    def recall(self, query: Query, memory: MemoryView) -> Recalled:
        found = self._found(query, memory)
        return Recalled(sections=self._as_long(found.sections, query), notes=found.notes)

    def _as_long(self, real: Sequence[Section], query: Query) -> tuple[Section, ...]:
        """Stand-ins for the sections, with the tokens of all of them together."""
        meter = Meter(self.ground.counter)
        tried: list[tuple[int, tuple[Section, ...]]] = []
        spare = 0
        for _ in range(_ROUNDS):
            sections = self._stand_ins(real, query, meter, spare)
            missed = _tokens(real, meter) - _tokens(sections, meter)
            tried.append((abs(missed), sections))
            if not missed:
                break
            spare += missed
        return min(tried, key=lambda attempt: attempt[0])[1]

    def _stand_ins(self, real: Sequence[Section], query: Query, meter: Meter, spare: int) -> tuple[Section, ...]:
        place = drawn(self.ground.seed, query.text)
        writer = _Writer(Supply(self.corpus, place), meter, _answers(query, place), _lengths(real, meter, spare))
        return tuple(writer.instead_of(section) for section in real)


class _Writer:
    """Writes unrelated parts, one after the other.

    Args:
        answers: of the examples; empty ones are left to the corpus.
        lengths: tokens of each part.
    """

    def __init__(self, supply: Supply, meter: Meter, answers: Iterator[str], lengths: Iterator[int]) -> None:
        self._supply = supply
        self._meter = meter
        self._answers = answers
        self._lengths = lengths

    def instead_of(self, section: Section) -> Section:
        item = self._mistake if section.name == "mistakes" else self._statement
        return replace(
            section, items=tuple(item() for _ in section.items), turns=tuple(self._turn(turn) for turn in section.turns)
        )

    def _statement(self) -> Item:
        return Item(text=self._supply.text(next(self._lengths), self._meter.count))

    def _mistake(self) -> Item:
        pair = self._supply.pair()
        answer = next(self._answers) or pair.answer

        def shown(question: str) -> str:
            return "- " + indented(f"{question}\nwas wrongly answered: {answer}")

        question = self._supply.text(
            next(self._lengths), lambda text: self._meter.count(shown(text)), opening=pair.question
        )
        return Item(text=shown(question))

    def _turn(self, real: ChatTurn) -> ChatTurn:
        pair, answer = self._supply.pair(), next(self._answers)
        if not answer:
            answer = self._answer_like(real.assistant, pair.answer)
        question = self._supply.text(
            next(self._lengths),
            lambda text: self._meter.turn(ChatTurn(user=text, assistant=answer)),
            opening=pair.question,
        )
        return ChatTurn(user=question, assistant=answer)

    def _answer_like(self, real: str, answer: str) -> str:
        """An answer of a word or two, or with statements behind it where the real one is longer."""
        tokens = self._meter.count(real)
        if tokens <= self._meter.count(answer):
            return answer
        return self._supply.text(tokens, self._meter.count, opening=f"{answer}.")


def _answers(query: Query, place: int) -> Iterator[str]:
    """Some of the choices, as chance has it, without end; empty texts where there are none."""
    number = 0
    while True:
        yield query.choices[drawn(place, number) % len(query.choices)] if query.choices else ""
        number += 1


def _lengths(real: Sequence[Section], meter: Meter, spare: int) -> Iterator[int]:
    """Tokens of each part in its order; what is to spare, or is lacking, falls to the longest."""
    lengths = [length for section in real for length in _part_lengths(section, meter)]
    if lengths:
        lengths[lengths.index(max(lengths))] += spare
    return iter(lengths)


def _part_lengths(section: Section, meter: Meter) -> list[int]:
    return [meter.count(item.text) for item in section.items] + [meter.turn(turn) for turn in section.turns]


def _tokens(sections: Sequence[Section], meter: Meter) -> int:
    return meter.measure([section for section in sections if section.items or section.turns])


CONTROL: Final = Control(
    name=PLACEBO,
    tests="What the memory says matters: as many tokens about something else, in the same form, help less.",
    make=lambda ground: Placebo(ground=ground, corpus=unrelated_corpus()),
)
