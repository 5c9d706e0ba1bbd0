"""Arithmetic in a text: what is read, computed and refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cheatsheet.evaluation.judging.arithmetic import APPLY, MAX_CHARACTERS, MAX_DEPTH, ExpressionError, read, tidy


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("1 - 2 - 3", -4),
        ("8 / 4 / 2", 1),
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("8 / (3 - 8 / 3)", 24),
        ("1/3", Fraction(1, 3)),
        ("((((5))))", 5),
    ],
)
def test_expressions_are_computed_exactly(text: str, value: Fraction) -> None:
    assert read(text).value == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "A number is missing at the end."),
        ("9**9**9", "A number is missing before '*'."),
        ("-3 + 4", "A number is missing before '-'."),
        ("1 2", "An operator is missing before '2'."),
        ("(1 + 2", "A '(' is not closed."),
        ("(1 2)", "An operator is missing before '2'."),
        ("1 + 2)", "A ')' closes nothing."),
        ("1 / (2 - 2)", "It divides by zero."),
        ("3.5 + 1", "'.' cannot be read"),
        ("__import__('os')", "cannot be read"),
        ("٣ + 1", "'٣' cannot be read"),
        ("(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1), f"It nests more than {MAX_DEPTH} parentheses."),
        ("1+" * MAX_CHARACTERS + "1", f"at most {MAX_CHARACTERS} are read"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        read(text)
    assert reason in str(caught.value)


def test_the_operators_are_the_four_of_the_grammar() -> None:
    assert {sign: apply(Fraction(6), Fraction(3)) for sign, apply in APPLY.items()} == {"+": 9, "-": 3, "*": 18, "/": 2}
    assert tidy(" 6 ÷ 3. ") == "6 / 3"
