"""Whether a lesson only repeats what stood in the prompt.

What a model is shown comes back in what it says about its work. Counted as new each time, a bullet would vote for
itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.likeness.facts import facts_of
from cheatsheet.memory.likeness.sameness import difference, fold, words

_NEAR = 0.8  # share of words in common; what tells two texts apart for all that, `difference` says
_SENTENCE_END = re.compile(r"(?<=[.!?;。！？；])\s+|(?<=[。！？；])|\n+")


def repeated(lesson: str, bullets: Iterable[Bullet]) -> Bullet | None:
    """The first of the bullets that says all of the lesson already; None when it is new."""
    return next((bullet for bullet in bullets if repeats(lesson, bullet.content)), None)


def repeats(lesson: str, known: str) -> bool:
    """True when the lesson is the known text, a part of it, or says nothing beyond it in almost the same words.

    In doubt it is new: a needless bullet costs a few tokens, and growing compares it once more.
    """
    if fold(lesson) == fold(known):
        return True
    whole = _sentences(known)
    if all(any(_within(part, sentence) for sentence in whole) for part in _sentences(lesson)):
        return True
    adds_nothing = facts_of(lesson).content <= facts_of(known).content
    return adds_nothing and _overlap(lesson, known) >= _NEAR and difference(lesson, known) is None


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE_END.split(text.strip()) if part.strip()]


def _within(part: str, sentence: str) -> bool:
    """The words of the part stand in the sentence one behind the other, and the rest adds no negation or condition."""
    got, whole = words(part), words(sentence)
    if not got or not any(whole[at : at + len(got)] == got for at in range(len(whole) - len(got) + 1)):
        return False
    one, two = facts_of(part), facts_of(sentence)
    return (one.negations, one.conditions) == (two.negations, two.conditions)


def _overlap(one: str, two: str) -> float:
    first, second = set(words(one)), set(words(two))
    return len(first & second) / len(first | second) if first | second else 0.0
