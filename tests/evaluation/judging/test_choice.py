"""Reading which option was picked (cases N13, N17)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.judging.choice import Options, listed_options
from cheatsheet.evaluation.scorers import scorer_for
from cheatsheet.evaluation.task import Sample

CITIES = ("Paris", "Berlin", "New York", "York")


@pytest.mark.parametrize(
    ("answer", "picked"),
    [
        ("Answer clearly stands out.\nAnswer: B", "B"),  # N17
        ("Option C fails, so the answer is A", "A"),
        ("Antwort: Antwort: D", "D"),
        ("(B)", "B"),
        ("B.", "B"),
        ("b", "B"),
        ("**B**", "B"),
        (" [b] ", "B"),
        ("Option B", "B"),
        ("答案：B", "B"),
        ("答案是 B。", "B"),
        ("The correct answer is\n\n**(B)**.", "B"),
        ("Answer: B because it is smaller than A", "B"),
        ("answer: b", "B"),
        (r"I get \boxed{A}. So \boxed{\text{C}} holds.", "C"),  # N13
        (r"The answer is $\boxed{C}$.", "C"),
        ("First A, then B.\n\nC", "C"),
        ("I think it must be (D).", "D"),
        ("Answer: A\nNo: answer: C", "C"),
        ("Answer: A or B", None),
        ("Answer: A/B", None),
        ("The answer is a tree", None),
        ("(A) or (B)", None),
        ("", None),
        ("Answer", None),
        ("Bears are big", None),
    ],
)
def test_letters(answer: str, picked: str | None) -> None:
    assert Options(()).pick(answer) == picked


@pytest.mark.parametrize(
    ("answer", "picked"),
    [
        ("Berlin", "Berlin"),
        ("berlin.", "Berlin"),
        ("B", "Berlin"),
        ("(C)", "New York"),
        ("B) Berlin", "Berlin"),
        ("(b): Berlin.", "Berlin"),
        ("B) Paris", None),
        ("Answer: new  york", "New York"),
        ("Answer: York", "York"),
        ("Paris is a trap. Antwort: **Berlin**", "Berlin"),
        ("I would say Berlin, all in all", "Berlin"),
        ("Surely New York.", "New York"),
        ("Paris or Berlin", None),
        ("not Paris", None),
        ("Berliner", None),
        ("E", None),
    ],
)
def test_texts(answer: str, picked: str | None) -> None:
    assert Options(CITIES).pick(answer) == picked


def test_letters_that_are_options_stand_for_themselves() -> None:
    options = Options(("C", "A", "b"))
    assert [options.pick(answer) for answer in ("A", "(B)", "Answer: C", "D")] == ["A", "b", "C", None]


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=2, max_size=12, unique=True), st.data())
def test_an_option_by_its_letter_is_that_option(choices: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(choices) - 1))
    picked = Options(choices).pick(f"({'ABCDEFGHIJKL'[place]})")
    assert picked in choices


@given(st.text(), st.lists(st.text(min_size=1).filter(str.strip), max_size=5, unique=True))
def test_any_text_picks_an_option_or_none(answer: str, choices: list[str]) -> None:
    assert Options(choices).pick(answer) in {None, *choices, *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("unit", ["answer ", "answer:", "(", "A ", "option ", "*", "Paris ", "\n", "is "])
def test_runaway_replies_are_read(unit: str) -> None:
    """A search that is quadratic in the length would not come back in the time limit."""
    assert Options(CITIES).pick("Answer: " + unit * 20_000) in {None, "Paris"}


@pytest.mark.parametrize(("target", "right"), [("B", True), ("(b)", True), ("A", False)])
def test_a_target_may_be_a_letter(target: str, right: bool) -> None:
    assert scorer_for("choice").score("Answer: B", Sample(id="1", input="q", target=target)) == right


def test_a_target_among_the_choices_counts_as_it_stands() -> None:
    sample = Sample(id="1", input="q", target="Berlin", choices=CITIES)
    scorer = scorer_for("choice")
    assert [scorer.score(answer, sample) for answer in ("B", "berlin", "A", "Paris, Berlin")] == [1, 1, 0, 0]
    scorer.check([sample])


def test_a_target_that_is_no_option_is_found_before_the_run() -> None:
    with pytest.raises(TaskError, match="cannot read the target 'Berlin'"):
        scorer_for("choice").check([Sample(id="1", input="q", target="Berlin")])


CAPITAL = "Which is the capital of Germany?\nOptions:\n(A) Paris\n(B) Berlin\n(C) New York (state)"


@pytest.mark.parametrize(
    ("question", "options"),
    [
        (CAPITAL, {"A": "Paris", "B": "Berlin", "C": "New York (state)"}),
        ("q\nA) one\nB) two", {"A": "one", "B": "two"}),
        ("q\n  A. one  \n  B. two", {"A": "one", "B": "two"}),
        ("A. Smith asks:\n(A) 1\n(B) 2", {"A": "1", "B": "2"}),
        ("(A) 1\n(C) 3", {}),
        ("(B) 1\n(C) 3", {}),
        ("no options", {}),
        ("", {}),
    ],
)
def test_options_are_listed_in_the_question(question: str, options: dict[str, str]) -> None:
    assert listed_options(question) == options


@pytest.mark.parametrize(
    ("answer", "right"),
    [("(B)", True), ("B", True), ("B.", True), ("berlin", True), ("(B) Berlin", True), ("(A)", False), ("Bonn", False)],
)
def test_an_option_that_the_question_lists_may_be_named_by_its_text(answer: str, right: bool) -> None:
    assert scorer_for("choice").score(answer, Sample(id="1", input=CAPITAL, target="(B)")) == right


def test_listed_options_of_the_same_text_are_told_apart_by_their_letters() -> None:
    sample = Sample(id="1", input="q\n(A) one\n(B) two\n(C) One", target="(A)")
    assert [scorer_for("choice").score(answer, sample) for answer in ("(A)", "(C)", "one")] == [1, 0, 0]
