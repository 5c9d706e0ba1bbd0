"""What rules see of a wrong answer: a table of answers as models give them."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.roles.difference import describe, same, slip
from cheatsheet.roles.forms import form_slip, items_of
from cheatsheet.roles.quantities import quantity
from cheatsheet.roles.role import ErrorKind

FINANCE = Path(__file__).resolve().parents[3] / "shared" / "data" / "ace_finance"
needs_data = pytest.mark.skipif(
    not FINANCE.is_dir(), reason="the published finance tasks (../shared/data/ace_finance) are not here"
)

CALCULATION, CONCEPT, FORMAT = ErrorKind.CALCULATION, ErrorKind.CONCEPT, ErrorKind.FORMAT
OMISSION, UNIT = ErrorKind.OMISSION, ErrorKind.UNIT

SLIPS = {
    # The scale and the unit
    "a fraction for a percentage": ("0.15", "15.0", UNIT, "100 times too small: mind percent and fraction"),
    "a percentage for a fraction": ("5", "0.05", UNIT, "100 times too large: mind percent and fraction"),
    "thousands": ("1.5", "1500", UNIT, "1,000 times too small: mind thousands and their units"),
    "millions": ("6500000", "6.5", UNIT, "1,000,000 times too large: mind millions and single units"),
    "a shifted point": ("184.5", "18.45", UNIT, "10 times too large: mind the decimal point"),
    "another unit": ("12 g", "12 kg", UNIT, "the unit is kg, not g"),
    "a unit that is missing": ("12", "12 kg", UNIT, "name the unit kg"),
    "a unit too much": ("15%", "15.0", UNIT, "give the number without %"),
    # The calculation
    "the sign": ("-2.5", "2.5", CALCULATION, "the sign was reversed"),
    "the inverse": ("0.2", "5.0", CALCULATION, "numerator and denominator were swapped"),
    "the inverse, rounded": ("0.667", "1.5", CALCULATION, "numerator and denominator were swapped"),
    "the other part": ("70", "30", CALCULATION, "it is the other part of 100"),
    "months": ("360", "30", CALCULATION, "12 times too large: mind months and years"),
    "hours": ("0.75", "45", CALCULATION, "60 times too small: mind minutes, hours and seconds"),
    "one too few": ("250", "251", CALCULATION, "off by one: look at both ends"),
    "the last digit": ("18.44", "18.45", CALCULATION, "the last digit is wrong: round at the end only"),
    "cut off": ("18.4", "18.45", CALCULATION, "it was cut off instead of rounded"),
    "rounded on the way": ("41.2", "41.5", CALCULATION, "nearly right: do not round on the way"),
    "quite another number": ("3.0", "5.0", CALCULATION, ""),
    "nothing instead of something": ("0", "5", CALCULATION, ""),
    "small numbers say nothing of days": ("2", "14", CALCULATION, ""),
    # The form
    "more decimal places": ("18.4478", "18.45", FORMAT, "2 decimal places are wanted"),
    "no decimal places": ("18", "18.45", FORMAT, "2 decimal places are wanted"),
    "a whole number": ("41.6", "42", FORMAT, "a whole number is wanted"),
    "words around it": ("So the answer is 42.", "42", FORMAT, "give the answer alone, without words around it"),
    "a date": ("March 5, 2024", "2024-03-05", FORMAT, "write dates like 2024-03-05"),
    "another date form": ("5th March 2024", "05.03.2024", FORMAT, "write dates like 05.03.2024"),
    "a number in words": ("twelve", "12", FORMAT, "write numbers in digits"),
    "a number in digits": ("3", "three", FORMAT, "write numbers in words"),
    "yes and true": ("Yes", "True", FORMAT, "say True"),
    "a fraction": ("1/2", "0.5", FORMAT, "write it as a decimal number"),
    "a decimal number": ("0.5", r"\frac{1}{2}", FORMAT, "write it as a fraction"),
    "capital letters": ("usd", "USD", FORMAT, "capital and small letters count"),
    "separators": ("1,200", "1200", FORMAT, "write numbers without separators"),
    "no separators": ("1200", "1,200", FORMAT, "write numbers with separators"),
    "another order": ("3, 1, 2", "1,2,3", FORMAT, "the order of the items counts"),
    # Lists and texts
    "one item of a list": ("Goodwill,Revenues,X", "Goodwill,Revenues,Y", CONCEPT, "Y, not X"),
    "one number of a list": ("4, 8, 16", "4, 8, 15", CALCULATION, "15, not 16"),
    "an item that is missing": ("Goodwill,X", "Goodwill,Revenues,X", OMISSION, "name all 3"),
    "an item too much": ("Goodwill, Revenues, X", "Goodwill,Revenues", CONCEPT, "there are 2, not 3"),
    "a list of another length": ("a, b, c", "d, e", CONCEPT, "there are 2, not 3"),
    "every item of a list": ("a, b", "c, d", CONCEPT, ""),
    "more than was asked": ("Ana and Ben", "Ana", CONCEPT, ""),
    "the opposite with the same words": ("not amber", "amber", CONCEPT, ""),
    "another date": ("2024-03-06", "2024-03-05", CONCEPT, ""),
}


@pytest.mark.parametrize(("answer", "expected", "kind", "hint"), SLIPS.values(), ids=SLIPS)
def test_what_is_wrong_and_in_which_way(answer: str, expected: str, kind: ErrorKind, hint: str) -> None:
    found = slip(answer, expected)
    assert (found.kind, found.hint) == (kind, hint)


@pytest.mark.parametrize("answer", ["(B) because the pipe leaks", "B. Paris", "Option B"])
def test_a_choice_with_words_around_it_is_a_matter_of_form(answer: str) -> None:
    assert slip(answer, "B", ("A", "B", "C")).kind is FORMAT
    assert slip(answer, "C", ("A", "B", "C")).kind is ErrorKind.WRONG_CHOICE


def test_lists_are_compared_item_by_item() -> None:
    assert describe("Goodwill,X,Revenues", "Goodwill,Y,Revenues") == '"X" instead of "Y"'
    assert describe("a, b", "a, b, c") == '"c" is missing'
    assert items_of("It rained, and we, who had come a long way on foot, stayed in.") == []
    assert items_of("12") == items_of("a,,b") == []


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_pair_of_texts_raises(answer: str, expected: str) -> None:
    found = slip(answer, expected, ())
    assert found.kind is not ErrorKind.NONE
    assert found.hint == found.hint.strip()
    form_slip(answer, expected, (expected,))


numbers = st.decimals(-(10**6), 10**6, places=2, allow_nan=False)


@given(numbers, st.sampled_from([10, 100, 1000, 10**6]))
def test_a_scale_is_seen_whatever_the_number(number: Decimal, scale: int) -> None:
    """Law: the number times a power of ten is a matter of unit, and its direction is told."""
    if number:
        assert f"{scale:,} times too large" in slip(f"{number * scale:f}", f"{number:f}").hint
        assert f"{scale:,} times too small" in slip(f"{number:f}", f"{number * scale:f}").hint


@needs_data
def test_on_targets_of_the_finance_tasks() -> None:
    """What is said of the usual slips holds for the right results of a published task (Formula, test split)."""
    rows = (FINANCE / "formula_test.jsonl").read_text(encoding="utf-8").splitlines()
    targets = [text for row in rows if (found := quantity(text := json.loads(row)["target"])) and found.number]
    assert len(targets) > 150
    for target in targets:
        number = Decimal(target.replace(",", ""))
        assert slip(f"{number * 100:f}", target).kind is UNIT
        assert slip(f"{-number:f}", target).hint == "the sign was reversed"
        assert slip(f"The answer is {target}", target).kind is FORMAT
        assert slip(f"{number + Decimal('0.004'):f}", f"{number.quantize(Decimal('0.01')):f}").kind is FORMAT


@needs_data
def test_on_labels_of_the_finance_tasks() -> None:
    """Of four labels (FiNER), one that is wrong is named, one that is missing is an omission."""
    with gzip.open(FINANCE / "finer_test_subset.jsonl.gz", "rt", encoding="utf-8") as file:
        targets = [json.loads(line)["target"] for line in file]
    lists = [labels for target in targets if len(labels := target.split(",")) == 4 and len(set(labels)) > 1]
    assert len(lists) > 50
    for labels in lists:
        right = ",".join(labels)
        wrong = ",".join(["Goodwill2", *labels[1:]])
        assert same(right, right)
        assert slip(wrong, right).hint == f"{labels[0]}, not Goodwill2"
        assert slip(",".join(labels[:-1]), right).kind is OMISSION
