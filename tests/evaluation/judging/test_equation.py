"""Judging balanced equations: any right one, with the numbers of the question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.judging.equation import judge
from cheatsheet.evaluation.scorers import scorer_for
from cheatsheet.evaluation.task import Sample

digits_and_signs = st.text(alphabet="0123456789+-*/()= ×÷−?.x", max_size=40)


@given(st.one_of(st.text(max_size=300), digits_and_signs))
def test_judging_an_equation_never_raises_and_gives_a_reason_when_wrong(answer: str) -> None:
    right, reason = judge("1 ? 2 ? 3 = 6", answer)
    assert right == (reason == "")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("1 * 2 * 3 = 6", ""),
        ("1+2+3=6", ""),
        (r"\boxed{1 \cdot 2 \cdot 3 = 6}", ""),
        ("1 × 2 × 3 = 6", ""),
        ("1 + (2 + 3) = 6", ""),
        ("1 + 2 + 3 = 6\n1 * 2 * 3 = 6", ""),
        ("1 + 2 + 3 = 6\n1 + 2 * 3 = 6", "The left-hand side is 7, not 6."),
        ("1 + 2 + 3", "There is no '='"),
        ("", "There is no '='"),
        ("1 + 2 - 3 = 6", "The left-hand side is 0, not 6."),
        ("1 + 2 - 3 = 0", "The right-hand side must stay 6; it is '0'."),
        ("3 + 2 + 1 = 6", "The numbers must be those of 1 ? 2 ? 3 = 6, in that order."),
        ("1 + 2 + 2 + 1 = 6", "The numbers must be those of"),
        ("6 = 6", "The numbers must be those of"),
        ("1 ? 2 ? 3 = 6", "'?' cannot be read"),
        ("1 + 2 + 3 = 6 = 6", "The right-hand side must stay 6"),
    ],
)
def test_any_right_equation_passes_and_a_wrong_one_is_told_why(answer: str, reason: str) -> None:
    verdict = judge("1 ? 2 ? 3 = 6", answer)
    assert verdict.right == (reason == "")
    assert reason in verdict.reason


def test_parentheses_must_not_change_the_value() -> None:
    assert judge("1 ? 2 ? 3 = 9", "(1 + 2) * 3 = 9").reason.startswith("Parentheses that change")


def test_a_negative_right_hand_side_may_be_written_with_a_minus_sign() -> None:
    assert judge("3 ? 21 ? 1 = -18", "3 − 21 × 1 = −18").right


@pytest.mark.parametrize("question", ["", "1 + 2 = 3", "1 ? 2", "1 ? x = 3", "1 ? 2 = 3.5", "9" * 5000])
def test_a_question_that_is_none_is_a_fault_of_the_task_file(question: str) -> None:
    with pytest.raises(TaskError, match="is no equation to balance"):
        judge(question, "1 + 2 = 3")


def test_the_scorer_takes_any_right_equation() -> None:
    sample = Sample(id="e1", input="4 ? 17 ? 1 = -13", target="4 - 17 / 1 = -13")
    scorer = scorer_for("equation")
    assert [scorer.score(answer, sample) for answer in ("4 - 17 * 1 = -13", "4 - 17 + 1 = -13", "-13")] == [1, 0, 0]
    scorer.check([sample])
