"""How complex questions are: the table that `auto` chooses by."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.memory.experience import Query
from modes.complexity import FEATURES, complexity, weights

TRAIN = (
    "A train leaves Rome at 14:00 and drives 120 km/h. A second one leaves at 15:00 and drives 150 km/h on the same "
    "track. When does the second catch up with the first?"
)
AIME = (
    "Let $ABCD$ be a convex quadrilateral with $AB = 7$, $BC = 11$, $CD = 13$ such that $\\angle ABC = \\angle BCD = "
    "120^\\circ$. A point $P$ inside it has the same distance from each of the four sides. The square of the length "
    "of $AD$ can be written as $\\tfrac{m}{n}$, where $m$ and $n$ are relatively prime positive integers. Find $m + n$."
)
CODE = "Why does this fail?\n```python\ndef add(a, b):\n    return a - b\n```\nFix it, and explain why it must pass."
PARTS = "A ball is thrown upwards at 12 m/s. (a) How high does it rise? (b) When is it back? (c) How fast is it then?"
OPTIONS = "Which gas do plants take in? A) oxygen B) nitrogen C) carbon dioxide D) helium"


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("What is 2+2?", 0, 2),
        ("Who wrote Hamlet?", 0, 2),
        ("", 0, 0.01),
        ("法国的首都是哪里？", 0, 2),
        ("Was ist die Hauptstadt von Frankreich?", 0, 2),
        ("If 3 apples cost $1.20, what do 7 cost?", 0, 2),
        ("4 5 6 10", 0, 2),
        ("14 ? 16 ? 20 ? 15 = 25", 0, 2),  # marks that are no questions
        (TRAIN, 2, 5),
        ("Prove that the square root of 2 is irrational.", 2, 5),
        (OPTIONS, 2, 5),
        (PARTS, 2, 5),
        (AIME, 5, 15),
        (CODE, 5, 15),
        (f"{TRAIN} {PARTS} Compare both, and explain why.", 5, 15),
    ],
)
def test_the_table(text: str, low: float, high: float) -> None:
    assert low <= complexity(Query(text=text)) < high


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is 2+2?", {"length": 3 / 15, "numbers": 0.2, "formulas": 0.15}),
        ("Prove it.", {"length": 2 / 15, "demands": 1.5}),
        ("Is it so? And why? And how?", {"length": 7 / 15, "sentences": 0.4, "parts": 1.6}),
        ("Take exactly 2, unless none is left.", {"length": 7 / 15, "numbers": 0.1, "conditions": 0.6}),
        ("首都在哪里", {"length": 2.5 / 15}),
    ],
)
def test_every_number_follows_from_the_formula(text: str, expected: dict[str, float]) -> None:
    assert {name: weight for name, weight in weights(Query(text=text)).items() if weight} == pytest.approx(expected)


@pytest.mark.parametrize(("choices", "weight"), [(0, 0), (1, 0), (2, 1), (4, 2), (8, 3), (77, 4)])
def test_more_choices_weigh_more(choices: int, weight: float) -> None:
    query = Query(text="Which?", choices=tuple(map(str, range(choices))))
    assert weights(query)["choices"] == weight


def test_choices_in_the_text_weigh_as_those_beside_it() -> None:
    assert weights(Query(text=OPTIONS))["choices"] == 2


def test_the_documented_formula_names_every_feature() -> None:
    import modes.complexity

    for name, feature in FEATURES.items():
        line = next(line for line in (modes.complexity.__doc__ or "").splitlines() if line.startswith(f"    {name} "))
        assert f"{feature.most:g}" in line or name == "code"


@given(st.text(max_size=300), st.lists(st.text(min_size=1, max_size=5), max_size=6))
def test_it_is_a_number_that_no_feature_decides_alone(text: str, choices: list[str]) -> None:
    query = Query(text=text, choices=tuple(choices))
    value = complexity(query)
    assert math.isfinite(value)
    assert 0 <= value <= sum(feature.most for feature in FEATURES.values())
    assert complexity(query) == value


@given(st.text(max_size=200), st.sampled_from([TRAIN, AIME, "Also, at least 3 must differ."]))
def test_saying_more_is_never_simpler(text: str, more: str) -> None:
    assert complexity(Query(text=f"{text}\n{more}")) >= complexity(Query(text=text))


def test_it_takes_time_in_proportion_to_the_text() -> None:
    """Long texts of everything that the patterns look for; what is tried again at every place would never end."""
    for piece in (
        "SELECT x ",
        "1,1.",
        "(a) ",
        "def x ",
        "\\alpha",
        " - 1",
        "a b. ",
        "\n",
        " ",
        "import\n",
        "step by ",
        "at",
    ):
        assert complexity(Query(text=piece * 20_000 + "a")) > 0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```\nx\n```", True),
        ("SELECT name FROM users", True),
        ("from math import sqrt\nprint(1)", True),
        ("import numpy", True),
        ("    def f(x):", True),
        ("Please select a gift from the list.", False),
        ("The class from which it is derived", False),
    ],
)
def test_what_counts_as_code(text: str, code: bool) -> None:
    assert weights(Query(text=text))["code"] == 1.5 * code
