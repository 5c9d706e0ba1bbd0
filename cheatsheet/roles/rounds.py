"""Several rounds of reflection on one question, while its answer is wrong."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cheatsheet.errors import ModelError
from cheatsheet.llm.model import Usage
from cheatsheet.roles.role import Attempt, EarlierAnswer, Reflection, Reflector


@dataclass(slots=True)
class _Rounds:
    """What was reflected so far, first to last, and what the further answers cost."""

    reflections: list[Reflection]
    usage: Usage = field(default_factory=Usage)
    notes: list[str] = field(default_factory=list)

    @property
    def last(self) -> Reflection:
        return self.reflections[-1]


def reflect_in_rounds(attempt: Attempt, reflector: Reflector, *, depth: int) -> Reflection:
    """Reflect on an attempt; while the answer is known to be wrong, have the question answered again with the
    reflection shown, and reflect on that (ACE, arXiv 2510.04618, section 3: iterative refinement of the Reflector).

    The tags, the kind of error and its cause are those of the first attempt: its prompt held the bullets, and its
    answer is the one that was given. Insight and approach are the last that a round had to offer. The usage is that of
    all rounds and of all further answers. A model that fails in a later round ends the rounds, with a note.

    Args:
        depth: rounds at most; 1 asks nobody again.

    Raises:
        ModelError: the reflection on the first attempt failed.
    """
    rounds = _Rounds([reflector.reflect(attempt)])
    current: Attempt | None = attempt
    while current is not None and rounds.last.correct is False and len(rounds.reflections) < depth:
        current = _next_round(current, reflector, rounds)
    return _combined(rounds)


def _next_round(current: Attempt, reflector: Reflector, rounds: _Rounds) -> Attempt | None:
    """Answer once more and reflect on it; None when there is no further round."""
    if current.again is None:
        return None
    try:
        following = _with_history(current.again(rounds.last), current, rounds.last)
        rounds.usage += following.usage
        rounds.reflections.append(reflector.reflect(following))
    except ModelError as error:
        rounds.notes.append(f"The rounds ended after {len(rounds.reflections)}, because the model failed: {error}")
        return None
    return following


def _with_history(following: Attempt, current: Attempt, reflection: Reflection) -> Attempt:
    if following.earlier:
        return following
    answered = EarlierAnswer(answer=current.answer, remark=reflection.correct_approach or reflection.key_insight)
    return replace(following, earlier=(*current.earlier, answered))


def _combined(rounds: _Rounds) -> Reflection:
    first, last = rounds.reflections[0], rounds.last
    newest = rounds.reflections[::-1]
    taught = next((reflection for reflection in newest if reflection.key_insight), first)
    later = [
        f"Round {number}: {note}"
        for number, reflection in enumerate(rounds.reflections[1:], start=2)
        for note in reflection.notes
    ]
    return replace(
        first,
        correct_approach=next((each.correct_approach for each in newest if each.correct_approach), ""),
        key_insight=taught.key_insight,
        restates=taught.restates,
        rounds=len(rounds.reflections),
        became_right=first.correct is False and last.correct is True,
        usage=sum((reflection.usage for reflection in rounds.reflections), rounds.usage),
        notes=(*first.notes, *later, *rounds.notes),
    )
