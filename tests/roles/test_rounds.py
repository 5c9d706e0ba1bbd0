"""Rounds of reflection while the answer is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import ModelError, ModelUnavailableError
from cheatsheet.llm.model import Usage
from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.roles.role import Attempt, EarlierAnswer, ErrorKind, Reflection
from cheatsheet.roles.rounds import reflect_in_rounds
from cheatsheet.roles.rule_reflector import RuleReflector

COST = Usage(prompt_tokens=7, calls=1, cost_usd=0.5)


@dataclass
class Answerer:
    """Gives these answers in turn, each with its feedback; keeps the reflections that it was shown."""

    answers: Sequence[tuple[str, bool | None] | ModelError]
    shown: list[Reflection] = field(default_factory=list)

    def first(self) -> Attempt:
        return replace(self._attempt(0), usage=Usage())  # the first answer is booked by the turn

    def _attempt(self, place: int) -> Attempt:
        answer = self.answers[place]
        if isinstance(answer, ModelError):
            raise answer

        def again(reflection: Reflection) -> Attempt:
            self.shown.append(reflection)
            return self._attempt(place + 1)

        more = place + 1 < len(self.answers)
        feedback = Feedback(correct=answer[1])
        query = Query(text="What is the tallest peak of the range?")
        return Attempt(query=query, answer=answer[0], feedback=feedback, again=again if more else None, usage=COST)


@dataclass
class Notes:
    """A reflector that says which attempt it saw."""

    seen: list[Attempt] = field(default_factory=list)
    fails_at: int = 0
    silent: bool = False

    def reflect(self, attempt: Attempt) -> Reflection:
        self.seen.append(attempt)
        number = len(self.seen)
        if number == self.fails_at:
            raise ModelUnavailableError("down")
        return Reflection(
            correct=attempt.feedback.verdict,
            error=ErrorKind.NONE if attempt.feedback.verdict else ErrorKind.CONCEPT,
            root_cause=f"cause {number}",
            correct_approach=f"approach {number}",
            key_insight="" if self.silent and number > 1 else f"insight {number}",
            tags={"sai-00001": "harmful"} if number == 1 else {"sai-00001": "helpful"},
            usage=Usage(completion_tokens=number, calls=1, cost_usd=0.25),
            notes=(f"note {number}",),
        )


def run(answers: Sequence[tuple[str, bool | None] | ModelError], *, depth: int = 3, **notes: object) -> Reflection:
    return reflect_in_rounds(Answerer(answers).first(), Notes(**notes), depth=depth)  # type: ignore[arg-type]  # by name


WRONG, RIGHT = ("Blanc", False), ("Rosa", True)


def test_an_answer_that_is_right_or_unknown_is_reflected_once() -> None:
    assert run([RIGHT, RIGHT]).rounds == 1
    assert run([("x", None), RIGHT]).rounds == 1
    assert run([RIGHT, RIGHT]).became_right is False


def test_a_wrong_one_is_answered_again_until_it_is_right() -> None:
    answerer, notes = Answerer([WRONG, ("Corno", False), RIGHT, RIGHT]), Notes()
    reflection = reflect_in_rounds(answerer.first(), notes, depth=5)
    assert (reflection.rounds, reflection.became_right, reflection.correct) == (3, True, False)
    assert [attempt.answer for attempt in notes.seen] == ["Blanc", "Corno", "Rosa"]
    assert [shown.key_insight for shown in answerer.shown] == ["insight 1", "insight 2"]
    assert notes.seen[2].earlier == (
        EarlierAnswer(answer="Blanc", remark="approach 1"),
        EarlierAnswer(answer="Corno", remark="approach 2"),
    )


def test_tags_and_error_are_the_first_s_and_the_insight_is_the_last() -> None:
    reflection = run([WRONG, RIGHT])
    assert (reflection.error, reflection.root_cause) == (ErrorKind.CONCEPT, "cause 1")
    assert reflection.tags == {"sai-00001": "harmful"}
    assert (reflection.key_insight, reflection.correct_approach) == ("insight 2", "approach 2")
    assert reflection.notes == ("note 1", "Round 2: note 2")


def test_an_insight_is_not_lost_to_a_later_round_that_has_none() -> None:
    assert run([WRONG, RIGHT], silent=True).key_insight == "insight 1"


def test_all_rounds_and_all_further_answers_are_booked() -> None:
    usage = run([WRONG, WRONG, RIGHT]).usage
    assert (usage.calls, usage.completion_tokens, usage.prompt_tokens) == (3 + 2, 1 + 2 + 3, 2 * 7)
    assert usage.cost_usd == 3 * 0.25 + 2 * 0.5


@pytest.mark.parametrize(("depth", "rounds"), [(0, 1), (1, 1), (2, 2), (3, 3), (9, 4)])
def test_there_are_no_more_rounds_than_the_depth_and_than_answers(depth: int, rounds: int) -> None:
    reflection = run([WRONG] * 4, depth=depth)
    assert (reflection.rounds, reflection.became_right) == (rounds, False)


def test_a_further_answer_that_fails_ends_the_rounds_with_a_note() -> None:
    reflection = run([WRONG, ModelUnavailableError("down"), RIGHT])
    assert (reflection.rounds, reflection.key_insight) == (1, "insight 1")
    assert reflection.notes == ("note 1", "The rounds ended after 1, because the model failed: down")


def test_a_further_reflection_that_fails_does_too_and_its_answer_is_booked() -> None:
    reflection = run([WRONG, WRONG, RIGHT], fails_at=2)
    assert (reflection.rounds, reflection.usage.cost_usd) == (1, 0.25 + 0.5)
    with pytest.raises(ModelUnavailableError):
        run([WRONG, RIGHT], fails_at=1)


def test_rules_learn_what_worked_at_last() -> None:
    """Feedback alone: nobody told the right answer before it was found."""
    reflection = reflect_in_rounds(Answerer([WRONG, ("Corno", False), RIGHT]).first(), RuleReflector(), depth=3)
    assert reflection.key_insight == (
        'For questions like "What is the tallest peak of the range?" the answer Rosa was right, not Blanc or Corno.'
    )
    assert reflection.restates is False


@given(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=6), st.integers(1, 6))
def test_rounds_end_with_the_first_answer_that_is_not_wrong(verdicts: list[bool | None], depth: int) -> None:
    """Law."""
    reflection = run([(str(number), verdict) for number, verdict in enumerate(verdicts)], depth=depth)
    wrong = next((place for place, verdict in enumerate(verdicts) if verdict is not False), len(verdicts))
    assert reflection.rounds == min(wrong + 1, depth, len(verdicts))
    assert reflection.correct == verdicts[0]
    assert reflection.became_right == (verdicts[0] is False and verdicts[reflection.rounds - 1] is True)
