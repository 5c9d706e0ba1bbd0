r"""Reading numbers (cases N08, N09, N10, N13, N14, N15, N19)."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.judging.number import allowed_integers, last_integer, last_number, only_number
from cheatsheet.evaluation.scorers import scorer_for
from cheatsheet.evaluation.task import Sample


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("That makes 58 boxes, in the end.", "58"),  # N08
        (r"\boxed{7{,}250}", "7250"),  # N09
        ("6,400", "6400"),
        ("1,234", "1234"),
        ("$41.00", "41"),  # N10
        ("41.", "41"),
        (r"I get \boxed{4}. So \boxed{4} holds, by 2 ways.", "4"),  # N13
        ("007", "7"),  # N14
        ("35%", "35"),  # N15
        (r"35\%", "35"),
        ("-5%", "-5"),
        ("0.35", "7/20"),
        ("3.5", "7/2"),  # N19
        ("12,345,678.90", "12345678.9"),
        ("1,00,000", "100000"),
        (r"3\,456", "3456"),
        ("1\u202f234", "1234"),
        ("1'234", "1234"),
        ("-$5", "-5"),
        ("$-5", "-5"),
        ("US$5", "5"),
        ("EUR5.50", "5.5"),
        ("−5", "-5"),
        ("x=-5", "-5"),
        ("10-5", "5"),
        ("3–5", "5"),
        (".5", "1/2"),
        ("No.5", "5"),
        ("wait...5", "5"),
        ("1e3", "1000"),
        ("1.5E-2", "0.015"),
        (r"1.5 \times 10^{5}", "150000"),
        ("1.5×10⁵", "150000"),
        ("1.5*10**5", "150000"),
        ("10^-2", "0.01"),
        ("2^5", "32"),
        ("1/2", "1/2"),
        (r"-\frac{1}{2}", "-1/2"),
        (r"\dfrac12", "1/2"),
        ("1½", "3/2"),
        ("1 1/2", "3/2"),
        ("20 / 25", "4/5"),
        ("5 m^2", "5"),
        ("5 m²", "5"),
        ("答案是42", "42"),
        ("٤٢", "42"),
        ("２，５００", "2500"),
        ("7 of them, as x1 said", "7"),
    ],
)
def test_reads(text: str, value: str) -> None:
    assert last_number(text) == Fraction(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        "GPT4",
        "x=7, so it is 3,5",  # not read as 5, nor as the 7 before it
        "12:30",
        "1.2.3",
        "5/2/2024",
        "1/0",
        "0^-1",
        r"4\sqrt{3}",
        r"\sqrt[4]{81}",  # N12: this scorer does no algebra; it does not take the root for 81 either
        "1e999999999",
        "2^999999999",
        "10^x",
        "9" * 5000,
        r"\boxed{x}",
        "infinity",
        "nan",
    ],
)
def test_reads_no_number(text: str) -> None:
    assert last_number(text) is None


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**12), max_value=10**12))
def test_every_way_to_write_a_number_is_the_same_number(value: Decimal) -> None:
    written = {
        f"{value}",
        f"{value:,}",
        f"${value:,}",
        f"{value} kg.",
        f"The answer is {value:,}.",
        rf"\boxed{{{value}}}",
    }
    assert {last_number(text) for text in written} == {Fraction(value)}


@given(st.fractions())
def test_fractions_are_exact(value: Fraction) -> None:
    assert last_number(str(value)) == value


@given(st.text(alphabet="0123456789.,:/^*e+-−{}[]()$%\\ sqrtfacboxd½⁵½\n", max_size=80))
def test_no_text_is_an_error(text: str) -> None:
    """A number that a text ends in is the number of that text wherever it holds just one."""
    only, last = only_number(text), last_number(text)
    assert only is None or only == last


@pytest.mark.timeout(30)
@pytest.mark.parametrize("unit", ["a", "9", "1,", " ", "^", "1 ", "a1", "{", "\\boxed{", "-", "1/", "}", "x10^"])
def test_runaway_replies_are_read(unit: str) -> None:
    """A search that is quadratic in the length would not come back in the time limit."""
    assert last_number(unit * 50_000) in {None, 1}


@pytest.mark.parametrize(
    ("answer", "target", "right"),
    [
        ("3.5", "35", False),
        ("1,234", "1,234", True),
        ("$41.00", "41.", True),
        ("007", "7", True),
        ("35%", "35", True),
        ("35%", "0.35", False),
        ("0.333", "1/3", False),
        ("", "0", False),
    ],
)
def test_scores(answer: str, target: str, right: bool) -> None:
    """N09, N10, N14, N15, N19: the target is read by the same rules as the answer."""
    assert scorer_for("number").score(answer, Sample(id="1", input="q", target=target)) == right


@pytest.mark.parametrize("target", ["seven", "3,5", "3 of 5", "1/0"])
def test_a_target_that_is_not_one_number_is_found_before_the_run(target: str) -> None:
    with pytest.raises(TaskError, match=r"'number' cannot read the target .* of question 't9'"):
        scorer_for("number").check([Sample(id="t9", input="q", target=target)])


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("35", 35),
        ("007", 7),  # N14
        ("033.", 33),
        (r"\boxed{073}", 73),
        (r"\boxed{7{,}250}", 7250),  # N09
        ("1,234", 1234),
        ("$41.00", 41),  # N10
        ("-5", -5),
        ("That makes 58 boxes, in the end.", 58),  # N08
        ("It is 3.5, so the answer is 35", 35),
        ("3.5", None),  # N19
        ("3,5", None),
        ("35.", 35),
        ("35.07", None),
        ("2^5", None),
        ("1e3", None),
        ("64/2", None),
        (r"\frac{64}{2}", None),
        ("7½", None),
        ("", None),
        ("none", None),
    ],
)
def test_integers_are_written_out_in_digits(answer: str, value: int | None) -> None:
    assert last_integer(answer) == value


@pytest.mark.parametrize(
    ("target", "allowed"),
    [
        ("080", {80}),
        ("1,234", {1234}),
        ("080 or 081 (both were accepted)", {80, 81}),  # in AIME_2020_2024
        ("7 or 3.5", set()),
        ("two", set()),
        ("7 and 8", set()),
        ("7 (or so)", {7}),
        ("", set()),
    ],
)
def test_a_target_may_allow_several_integers(target: str, allowed: set[int]) -> None:
    assert allowed_integers(target) == allowed


@pytest.mark.parametrize(
    ("answer", "target", "right"),
    [
        ("3.5", "35", False),
        ("1,234", "1,234", True),
        ("81", "080 or 081 (both were accepted)", True),
        ("82", "080 or 081 (both were accepted)", False),
        ("", "0", False),
    ],
)
def test_integers_are_scored(answer: str, target: str, right: bool) -> None:
    """N19: both sides are read by the same rules."""
    assert scorer_for("integer").score(answer, Sample(id="1", input="q", target=target)) == right


@pytest.mark.parametrize("target", ["3.5", "seven", "2^5"])
def test_a_target_that_is_no_integer_is_found_before_the_run(target: str) -> None:
    with pytest.raises(TaskError, match=r"'integer' cannot read the target .* of question 't9'"):
        scorer_for("integer").check([Sample(id="t9", input="q", target=target)])


@given(st.integers(-(10**12), 10**12))
def test_every_way_to_write_an_integer_is_the_same_integer(value: int) -> None:
    written = {f"{value}", f"{value:,}", f"{value}.0", f"The answer is {value:,}.", rf"\boxed{{{value}}}"}
    assert {last_integer(text) for text in written} == {value}
