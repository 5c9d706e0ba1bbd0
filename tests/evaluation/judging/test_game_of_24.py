"""Judging Games of 24: exact arithmetic, each number once, no `eval`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.judging.game_of_24 import judge, numbers_of
from cheatsheet.evaluation.scorers import scorer_for
from cheatsheet.evaluation.task import Sample

hands = st.lists(st.integers(1, 13), min_size=4, max_size=4)
digits_and_signs = st.text(alphabet="0123456789+-*/()= ×÷−?.x", max_size=40)
GAME = Sample(id="g1", input="4 7 8 8", target="(7 - 8 / 8) * 4")


@pytest.mark.parametrize(
    "answer",
    [
        r"So \boxed{(7 - 8 / 8) \times 4 = 24}.",
        "(7 − 8 ÷ 8) × 4 = 24",
        " (7-8/8)*4 ",
        "`(7 - 8 / 8) * 4`",
        r"$(7 - 8 \div 8) \times 4$",
        "(7 - 8/8) x 4 = 24.",
    ],
)
def test_the_signs_that_people_write_are_understood(answer: str) -> None:
    assert judge((4, 7, 8, 8), answer) == (True, "")


def test_a_huge_answer_is_refused_before_it_is_read() -> None:
    assert judge((1, 2, 3, 4), "9" * 10_000_000).reason.startswith("It has 10000000 characters")


@given(hands, st.one_of(st.text(max_size=300), digits_and_signs))
def test_judging_a_game_never_raises_and_gives_a_reason_when_wrong(numbers: list[int], answer: str) -> None:
    right, reason = judge(numbers, answer)
    assert right == (reason == "")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("4 + 7 + 8 + 8", "Its value is 27, not 24."),
        ("(7 - 8 / 8) * 4 = 25", "After '=' stands '25', not 24."),
        ("3 * 8", "Each of 4 7 8 8 must be used once; it uses 3 8."),
        ("I cannot do this", "cannot be read"),
        ("", "A number is missing at the end."),
    ],
)
def test_a_wrong_game_is_told_why(answer: str, reason: str) -> None:
    verdict = judge((4, 7, 8, 8), answer)
    assert not verdict.right
    assert reason in verdict.reason


@pytest.mark.parametrize("question", ["", "4 7 8 x", "4, 7, 8, 8", "4.5 7", "9" * 5000])
def test_a_question_that_is_none_is_a_fault_of_the_task_file(question: str) -> None:
    with pytest.raises(TaskError, match="is no Game of 24"):
        numbers_of(question)


def test_the_scorer_takes_any_expression_and_finds_a_target_that_is_none_before_the_run() -> None:
    scorer = scorer_for("game-of-24")
    assert [scorer.score(answer, GAME) for answer in ("4 * (7 - 8 / 8)", "24", "3 * 8")] == [1, 0, 0]
    scorer.check([GAME])
    with pytest.raises(TaskError, match="cannot read the target '24' of question 'g2'"):
        scorer.check([Sample(id="g2", input="4 7 8 8", target="24")])
