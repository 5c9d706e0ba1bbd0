"""Asking the generator: in several rounds, and once more after a reflection."""

from __future__ import annotations

from dataclasses import replace

from cheatsheet.engine.options import Judge
from cheatsheet.engine.results import Recall
from cheatsheet.roles.role import Attempt, EarlierAnswer, Generation, Generator, Reflection


def generate(generator: Generator, recall: Recall, *, rounds: int) -> Generation:
    """The answer of the last round; every round sees the answers before it.

    In Dynamic Cheatsheet this is `max_num_rounds` (suzgunmirac/dynamic-cheatsheet, language_model.py). A round without
    an answer ends it: the answer before it stands.
    """
    generation = _ask(generator, recall, ())
    earlier: tuple[EarlierAnswer, ...] = ()
    while generation.answer and len(earlier) < rounds - 1:
        earlier = (*earlier, EarlierAnswer(answer=generation.answer))
        further = _ask(generator, recall, earlier)
        usage, notes = generation.usage + further.usage, (*generation.notes, *further.notes)
        if not further.answer:
            told = "A further round gave no answer; the one before it stands."
            return replace(generation, usage=usage, notes=(*notes, told))
        generation = replace(further, usage=usage, notes=notes)
    return generation


def attempt_of(
    generator: Generator,
    recall: Recall,
    generation: Generation,
    judge: Judge,
    *,
    earlier: tuple[EarlierAnswer, ...] = (),
) -> Attempt:
    """The judged answer, with the means to answer again when a reflection says what was wrong."""
    attempt = Attempt(
        query=recall.query,
        answer=generation.answer,
        feedback=judge(generation.answer),
        reasoning=generation.reasoning,
        bullets=tuple(hit.value for hit in recall.bullets),
        used=generation.used,
        earlier=earlier,
        usage=generation.usage,
    )

    def again(reflection: Reflection) -> Attempt:
        known = (*earlier, EarlierAnswer(answer=attempt.answer, remark=_remark(reflection)))
        further = _ask(generator, recall, known)
        return attempt_of(generator, recall, further, judge, earlier=known)

    return replace(attempt, again=again)


def _ask(generator: Generator, recall: Recall, earlier: tuple[EarlierAnswer, ...]) -> Generation:
    context = recall.context
    return generator.generate(recall.query, context=context.body, examples=context.examples, earlier=earlier)


def _remark(reflection: Reflection) -> str:
    parts = (reflection.difference, reflection.root_cause, reflection.correct_approach, reflection.key_insight)
    return "\n".join(dict.fromkeys(part for part in parts if part))
