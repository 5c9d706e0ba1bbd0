"""Comparing numbers with units, as FinLoRA's Formula asks for (cases N08, N09, N10, N15)."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.judging.quantity import decimals_asked
from cheatsheet.evaluation.scorers import scorer_for
from cheatsheet.evaluation.task import Sample

FORMULA = Path(__file__).parents[4] / "shared" / "data" / "ace_finance"
TWO = "Answer with a numerical answer with 2 decimal places. What is the margin?"


def right(answer: str, target: str, question: str = TWO, **metadata: Any) -> bool:
    sample = Sample(id="f1", input=question, target=target, metadata=metadata)
    return scorer_for("quantity").score(answer, sample) == 1


@pytest.mark.parametrize(
    ("answer", "target"),
    [
        ("15.00", "15.0"),
        ("15", "15.0"),
        ("$15.00", "15.0"),
        ("15.00 times.", "15.0"),
        ("8.33x", "8.33"),
        ("That makes 8.33, in the end.", "8.33"),  # N08
        ("147,651.39", "147651.39"),  # N09
        (r"\boxed{147{,}651.39}", "147651.39"),
        ("$41.00", "41.0"),  # N10
        ("35%", "35.0"),  # N15
        ("-5%", "-5.0"),
        ("8.3333333", "8.33"),
        ("8.325", "8.33"),  # a five at the end may be rounded either way
        ("8.335", "8.33"),
        ("0.0476", "0.05"),
        ("1/3", "0.33"),
        ("$1.5 billion", "1500000000.0"),
        ("1,500 million USD", "1500000000.0"),
        (r"\$1.5 \text{ billion}", "1500000000.0"),
        ("1.2-million", "1200000.0"),
        ("-$100 million", "-100000000.0"),
        ("12.3 Trillion", "12300000000000.0"),
        ("4 thousand", "4 thousand"),
    ],
)
def test_the_same_quantity(answer: str, target: str) -> None:
    assert right(answer, target)


@pytest.mark.parametrize(
    ("answer", "target"),
    [
        ("8.3", "8.33"),
        ("8.34", "8.33"),
        ("8.3351", "8.33"),
        ("35%", "0.35"),  # N15
        ("5%", "-5.0"),
        ("1.5 million", "1500000000.0"),
        ("1.5", "1500000000.0"),
        ("3,5", "3.5"),
        ("12:30", "30.0"),
        ("about fifteen", "15.0"),
        ("", "0.0"),
    ],
)
def test_another_quantity(answer: str, target: str) -> None:
    assert not right(answer, target)


def test_percent_are_hundredths_where_the_row_says_so() -> None:
    """N15: one written rule, and a switch."""
    assert right("35%", "0.35", percent="hundredths")
    assert right("-5 \\%", "-0.05", percent="hundredths")
    assert right("0.35", "35%", percent="hundredths")
    assert not right("35%", "35", percent="hundredths")


@pytest.mark.parametrize(
    ("question", "decimals"),
    [
        ("with 2 decimal places", 2),
        ("Give three decimals.", 3),
        ("to one decimal place", 1),
        ("with no decimals", 0),
        ("a 4-decimal-place figure", 4),
        ("Round to the nearest whole number.", 0),
        ("to the nearest cent", 2),
        ("First with 4 decimal places; then answer with 2 decimal digits.", 2),
        ("What is 2 and 2?", None),
        ("the decimal system has 10 digits", None),
    ],
)
def test_how_many_decimals_a_question_asks_for(question: str, decimals: int | None) -> None:
    assert decimals_asked(question) == decimals


def test_rounding_is_as_the_row_says_then_the_question_then_the_target() -> None:
    assert right("3.14159", "3.1", "How much?")
    assert not right("3.16", "3.1", "How much?")
    assert not right("3.14159", "3.1")
    assert right("3.14159", "3.1", decimals=1)
    assert right("15.4", "15", "to the nearest whole number")
    assert not right("15.4", "15", "How many?"), "a target without decimals is exact where nobody asks for rounding"


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"decimals": "two"}, "'decimals': 'two'; it must be a whole number from 0 to 12"),
        ({"decimals": -1}, "'decimals': -1"),
        ({"decimals": True}, "'decimals': True"),
        ({"percent": "yes"}, "'percent': 'yes'; it must be 'points'.*or 'hundredths'"),
    ],
)
def test_metadata_that_makes_no_sense_is_a_fault_of_the_task(metadata: dict[str, Any], message: str) -> None:
    with pytest.raises(TaskError, match=rf"Question 'f1': metadata has {message}"):
        right("1", "1", **metadata)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-(10**12), max_value=10**12))
def test_every_way_to_write_an_amount_is_the_same_amount(value: Decimal) -> None:
    written = (f"{value}", f"{value:,}", f"${value:,}", f"{value:,} USD", f"{value}%", rf"\boxed{{{value}}}")
    assert all(right(text, str(float(value))) for text in written)


@given(st.text(alphabet="0123456789.,% million\\text{}-~", max_size=80))
def test_no_text_is_an_error(text: str) -> None:
    assert right(text, "1.0") in (True, False)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("unit", ["1 ", "1-", "\\text{ ", "1 million ", " ", "%", "1 % "])
def test_runaway_replies_are_read(unit: str) -> None:
    """A search that is quadratic in the length would not come back in the time limit."""
    assert not right("7" + unit * 50_000, "8.25")


def test_every_target_of_formula_can_be_met() -> None:
    if not FORMULA.exists():
        pytest.skip("the finance tasks (../shared/data/ace_finance) are not here")
    rows = [json.loads(line) for file in FORMULA.glob("formula_*.jsonl") for line in file.read_text().splitlines()]
    assert len(rows) == 1000
    assert all(decimals_asked(row["context"]) == 2 for row in rows)
    scorer_for("quantity").check(Sample(id="f", input=row["context"], target=row["target"]) for row in rows)
