"""Turns that are learnt together, as entries of the journal and as lessons; one turn is a batch of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self

from cheatsheet.engine.lived import Lived, experience_of, stored, turn_of
from cheatsheet.engine.options import EngineOptions
from cheatsheet.engine.results import Lesson
from cheatsheet.llm.model import Usage
from cheatsheet.memory.history.journal import Change, Committed
from cheatsheet.memory.incoming.clean import cleaned_experience, cleaned_texts
from cheatsheet.mode import LearnedBatch


@dataclass(frozen=True, slots=True)
class Batch:
    """Answered questions and what they taught together.

    What was learnt, and what the learning took, stands with the last turn.

    Attributes:
        remember: for each turn, whether it is kept as an experience.
        records: for each turn, what its caller wants stored with it.
    """

    lived: Sequence[Lived]
    lessons: Sequence[Lesson]
    usages: Sequence[Usage]
    remember: Sequence[bool]
    records: Sequence[dict[str, Any] | None]

    @classmethod
    def of(cls, lived: Sequence[Lived], learned: LearnedBatch, lesson: Lesson) -> Self:
        """The batch with the lesson of its last turn; the callers' records are made here."""
        reflections = learned.reflections or (None,) * len(lived)
        lessons = [Lesson(reflection=reflection) for reflection in reflections]
        lessons[-1] = replace(lesson, reflection=reflections[-1])
        usages = [one.usage for one in lived]
        usages[-1] += lesson.usage
        records = [
            one.record(turn_of(one, its_lesson, usage)) if one.record else None
            for one, its_lesson, usage in zip(lived, lessons, usages, strict=True)
        ]
        return cls(lived, lessons, usages, learned.remember, records)

    @property
    def reflections(self) -> int:
        """How many of the turns were reflected."""
        return sum(lesson.reflection is not None for lesson in self.lessons)

    @property
    def worth_storing(self) -> bool:
        """Whether there is anything that has to be remembered, if only that a turn of this name was lived."""
        named = any(one.turn_id for one in self.lived)
        recorded = any(record is not None for record in self.records)
        return bool(self.lessons[-1].operations) or any(self.remember) or named or recorded

    def changes(
        self, *, at: datetime, mode: str, model: str, options: EngineOptions
    ) -> tuple[list[Change], Change, tuple[str, ...]]:
        """The entries of the turns before the last one, the last one's, which holds all that changes the memory, and
        what was cleaned away, one sentence each.
        """
        entries = [
            Change(at=at, cause="turn", turn_id=one.turn_id, mode=mode, model=model, record=record)
            for one, record in zip(self.lived, self.records, strict=True)
        ]
        cleaned = [
            cleaned_experience(
                experience_of(one, mode=mode, model=model, usage=usage, at=at),
                secrets=options.mask_secrets,
                known=options.secrets,
            )
            for one, usage, kept in zip(self.lived, self.usages, self.remember, strict=True)
            if kept
        ]
        lesson, masked = self.lessons[-1], tuple(note for _, notes in cleaned for note in notes)
        told = cleaned_texts((*lesson.skipped, *lesson.notes), secrets=options.mask_secrets, known=options.secrets)
        main = {
            "operations": lesson.operations,
            "experiences": tuple(experience for experience, _ in cleaned),
            "notes": (*told, *masked),
        }
        return entries[:-1], entries[-1].model_copy(update=main), masked

    def stored(self, committed: Committed, notes: Sequence[str]) -> list[tuple[Lesson, Usage]]:
        """Each turn's lesson as it was stored, and its usage.

        Args:
            notes: of what was cleaned away, what was changed inside the transaction, and what was archived after it.
        """
        ids = iter(committed.entry.experience_ids)
        named = [next(ids) if kept else "" for kept in self.remember]
        *before, last = self.lessons
        version = committed.entry.version
        lessons = [
            *(replace(lesson, experience_id=id, version=version) for lesson, id in zip(before, named, strict=False)),
            stored(replace(last, notes=(*last.notes, *notes)), committed, named[-1]),
        ]
        return list(zip(lessons, self.usages, strict=True))

    def told(self, *, version: int) -> list[tuple[Lesson, Usage]]:
        """Each turn's lesson where nothing was stored, and its usage."""
        return [
            (replace(lesson, version=version), usage) for lesson, usage in zip(self.lessons, self.usages, strict=True)
        ]
