"""Comparing texts, and scorers by name (cases N12, N13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import TaskError, UnknownNameError
from cheatsheet.evaluation.judging.text import contains, last_box, normalise
from cheatsheet.evaluation.scorers import scorer_for
from cheatsheet.evaluation.task import Sample


def half(answer: str, target: str, row: Mapping[str, Any]) -> float:
    """A scorer from outside: half the score for the right length, plus what the row asks for."""
    return 0.5 * (len(answer) == len(target)) + float(row["metadata"].get("bonus", 0))


def broken(answer: str, target: str, row: Mapping[str, Any]) -> float:
    raise ZeroDivisionError("a fault of the scorer")


def _sample(target: str, **metadata: Any) -> Sample:
    return Sample(id="q7", input="q", target=target, metadata=metadata)


@pytest.mark.parametrize(
    ("answer", "target", "right"),
    [
        ("  Berlin ", "berlin", True),
        ("**Berlin**.", "Berlin", True),
        ('"Berlin!"', "berlin", True),
        ("new\n york", "New York", True),
        ("STRASSE", "straße", True),
        ("Cafe\u0301", "café", True),
        (r"\boxed{4}", "4", True),
        (r"I get \boxed{4}. So \boxed{4} holds.", "4", True),  # N13
        (r"\boxed{\text{Berlin}}", "Berlin", True),
        (r"\sqrt[4]{81}", r"\sqrt[4]{81}", True),  # N12
        ("3.5", "35", False),
        (".5", "5", False),
        ("-5", "5", False),
        ("5!", "5", False),
        ("C++", "C", False),
        ("Berlin, Germany", "Berlin", False),
        ("", "x", False),
        ("...", "x", False),
    ],
)
def test_exact(answer: str, target: str, right: bool) -> None:
    assert scorer_for("exact").score(answer, _sample(target)) == right


@pytest.mark.parametrize(
    ("answer", "target", "right"),
    [
        ("It is in Berlin, I think.", "berlin", True),
        ("(Berlin)", "Berlin", True),
        ("concatenate", "cat", False),
        ("concatenate the cat", "cat", True),
        ("3.5", "5", False),
        ("1,500", "500", False),
        ("between 3 and 5.", "5", True),
        ("答案是柏林市", "柏林", True),
        ("", "x", False),
    ],
)
def test_contains(answer: str, target: str, right: bool) -> None:
    assert scorer_for("contains").score(answer, _sample(target)) == right


def test_latex_is_unchanged_by_normalisation() -> None:
    """N12. That the root equals 3 is for a scorer that does algebra; none of ours claims to."""
    assert normalise(r"\sqrt[4]{81}") == r"\sqrt[4]{81}"


@given(st.text())
def test_normalising_twice_is_normalising_once(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(min_size=1).filter(str.strip))
def test_no_text_is_normalised_away(text: str) -> None:
    assert normalise(text)
    assert contains(normalise(text), normalise(text))


@given(st.text(alphabet="ab{}\\ "))
def test_the_last_box_is_read_with_its_inner_braces(content: str) -> None:
    balanced = content.replace("{", "").replace("}", "")
    assert last_box(rf"\boxed{{1}} and \boxed{{{{{balanced}}}}}.") == f"{{{balanced}}}"


@pytest.mark.parametrize("text", ["", "4", r"\boxed{4", r"\boxed 4"])
def test_no_box(text: str) -> None:
    assert last_box(text) is None


def test_a_scorer_of_ones_own() -> None:
    scorer = scorer_for(f"{__name__}:half")
    assert [scorer.score("abc", sample) for sample in (_sample("xyz"), _sample("x"), _sample("x", bonus=0.25))] == [
        0.5,
        0,
        0.25,
    ]
    scorer.check([_sample("x")])
    verdicts = [scorer.judge("abc", sample) for sample in (_sample("xyz"), _sample("x", bonus=0.25))]
    assert [(verdict.correct, verdict.score, verdict.expected) for verdict in verdicts] == [
        (True, 0.5, "xyz"),
        (False, 0.25, "x"),
    ]


@pytest.mark.parametrize("bonus", [1.5, -1, float("nan"), float("inf")])
def test_a_score_outside_its_range_is_an_error(bonus: float) -> None:
    with pytest.raises(TaskError, match=r"returned .* for question 'q7'; a score is"):
        scorer_for(f"{__name__}:half").score("ab", _sample("x", bonus=bonus))


def test_what_a_scorer_raises_is_let_through() -> None:
    with pytest.raises(ZeroDivisionError, match="a fault of the scorer"):
        scorer_for(f"{__name__}:broken").score("a", _sample("a"))


def test_an_unknown_scorer() -> None:
    with pytest.raises(
        UnknownNameError, match=r"Unknown scorer 'numbers'\. Did you mean 'number'\?.*'exact', 'choice'"
    ):
        scorer_for("numbers")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (f"{__name__}:nothing", "has no function 'nothing'"),
        ("no.such.module:f", "No module named 'no'.*PYTHONPATH"),
        (":f", "PYTHONPATH"),
        (f"{__name__}:", "has no function ''"),
    ],
)
def test_a_scorer_that_cannot_be_found(name: str, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        scorer_for(name)
