from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.roles.difference import describe, same, slip
from cheatsheet.roles.quantities import quantity
from cheatsheet.roles.role import Attempt, EarlierAnswer, ErrorKind, Reflection
from cheatsheet.roles.rule_reflector import RuleReflector
from tests.roles.fakes import bullet

ERRORS = {
    "nothing said": ("", "amber", (), ErrorKind.OMISSION),
    "nothing said of choices": (" ", "amber", ("amber", "crimson"), ErrorKind.OMISSION),
    "another choice": ("crimson", "amber", ("amber", "crimson"), ErrorKind.WRONG_CHOICE),
    "a choice in another form": ("Amber.", "amber", ("amber", "crimson"), ErrorKind.FORMAT),
    "thousands separators": ("1,000", "1000", (), ErrorKind.FORMAT),
    "a number written otherwise": ("12.0", "12", (), ErrorKind.FORMAT),
    "case, blanks and punctuation": ("new   york!", "New York", (), ErrorKind.FORMAT),
    "a list with other blanks": ("1,2, 3", "1, 2,3", (), ErrorKind.FORMAT),
    "another list of numbers": ("1, 23", "12, 3", (), ErrorKind.CALCULATION),
    "another unit": ("12 g", "12 kg", (), ErrorKind.UNIT),
    "a unit that is missing": ("12", "12 kg", (), ErrorKind.UNIT),
    "another currency": ("$12", "€12", (), ErrorKind.UNIT),
    "a fraction for a percentage": ("0.12", "12 %", (), ErrorKind.UNIT),
    "off by a thousand": ("1.5", "1500", (), ErrorKind.UNIT),
    "off by ten, below": ("-120", "-12", (), ErrorKind.UNIT),
    "another number": ("41", "42", (), ErrorKind.CALCULATION),
    "another sign": ("-5", "5", (), ErrorKind.CALCULATION),
    "a typographic minus": ("−5", "-5", (), ErrorKind.FORMAT),
    "another number with a unit": ("41 km/h", "42 km/h", (), ErrorKind.CALCULATION),
    "a sign in a formula": ("x = -5", "x = 5", (), ErrorKind.CONCEPT),
    "a fraction is no number with a unit": ("3/4", "3/8", (), ErrorKind.CONCEPT),
    "a part of the answer": ("Ana", "Ana and Ben", (), ErrorKind.OMISSION),
    "far shorter": (
        "it broke",
        "the pump lost pressure because a seal in the inlet valve tore",
        (),
        ErrorKind.OMISSION,
    ),
    "something else": ("Sydney", "Canberra", (), ErrorKind.CONCEPT),
}


@pytest.mark.parametrize(("answer", "expected", "choices", "error"), ERRORS.values(), ids=ERRORS)
def test_kinds_of_error(answer: str, expected: str, choices: tuple[str, ...], error: ErrorKind) -> None:
    assert slip(answer, expected, choices).kind is error


@pytest.mark.parametrize("text", ["", "12 13", "3 to 5", "12.5.3", "3/4", "3:4", "x", "9" * 70])
def test_what_is_no_quantity(text: str) -> None:
    assert quantity(text) is None


@given(st.integers(-(10**9), 10**9))
def test_a_number_is_the_same_however_it_is_grouped(number: int) -> None:
    """Law, with all separators in use."""
    for separator in ",'_ ":
        assert same(f"{number:,}".replace(",", separator), str(number))


@given(st.text(), st.text())
def test_every_pair_of_answers_has_a_kind(answer: str, expected: str) -> None:
    assert slip(answer, expected).kind is not ErrorKind.NONE
    assert same(answer, answer)
    assert same(answer, expected) == same(expected, answer)
    assert (describe(answer, expected) == "") == (answer.split() == expected.split())


def test_differences_in_words() -> None:
    assert describe("send it to crimson", "send it to amber") == '"crimson" instead of "amber"'
    assert describe("Ana", "Ana and Ben") == '"and Ben" is missing'
    assert describe("about 5", "5") == '"about" is too much'
    assert describe("a b c d e f g h i j k l", "1 b 2 d 3 f 4 h 5 j 6 l").endswith("; and 1 more")


def reflect(answer: str = "crimson", feedback: Feedback | None = None, **rest: object) -> Reflection:
    query = rest.pop("query", Query(text="I paid two times.", choices=("amber", "crimson")))
    attempt = Attempt(query=query, answer=answer, feedback=feedback or Feedback(), **rest)  # type: ignore[arg-type]  # by name
    return RuleReflector().reflect(attempt)


class TestLessons:
    def test_a_wrong_choice(self) -> None:
        reflection = reflect(feedback=Feedback(correct=False, expected="amber"))
        assert reflection.correct is False
        assert reflection.error is ErrorKind.WRONG_CHOICE
        assert (
            reflection.key_insight == 'For questions like "I paid two times." the right answer is amber, not crimson.'
        )
        assert reflection.correct_approach == "The right answer is amber."
        assert reflection.difference == '"crimson" instead of "amber"'
        assert reflection.root_cause

    def test_the_comment_comes_along(self) -> None:
        reflection = reflect(feedback=Feedback(expected="amber", comment="Amber does refunds."))
        assert reflection.correct is False
        assert reflection.key_insight.endswith("is amber, not crimson. Amber does refunds.")

    def test_a_comment_alone_is_the_insight(self) -> None:
        reflection = reflect(feedback=Feedback(comment="wrong: should go to the amber team"))
        assert reflection.correct is None
        assert reflection.key_insight == 'For questions like "I paid two times.": should go to the amber team'
        assert reflection.tags == {}

    @pytest.mark.parametrize("verdict", ["right", "Correct!", "Yes.", "good -"])
    def test_a_verdict_alone_is_no_lesson(self, verdict: str) -> None:
        assert reflect(feedback=Feedback(correct=True, comment=verdict)).key_insight == ""

    @pytest.mark.parametrize("comment", ["No key is needed.", "True north is meant.", "Wrong way round."])
    def test_a_word_of_a_sentence_is_no_verdict(self, comment: str) -> None:
        assert reflect(feedback=Feedback(comment=comment)).key_insight.endswith(f": {comment}")

    def test_only_that_it_was_wrong(self) -> None:
        reflection = reflect(feedback=Feedback(score=0.2))
        assert reflection.error is ErrorKind.OTHER
        assert reflection.key_insight == 'For questions like "I paid two times." the answer crimson is wrong.'

    def test_no_feedback_teaches_nothing(self) -> None:
        reflection = reflect()
        assert reflection == Reflection(correct=None, notes=reflection.notes)
        assert reflection.notes == ("There is no feedback: the attempt teaches nothing.",)

    def test_a_right_answer_teaches_nothing_new(self) -> None:
        reflection = reflect("Amber", Feedback(expected="amber"))
        assert (reflection.correct, reflection.error, reflection.key_insight) == (True, ErrorKind.NONE, "")

    def test_unless_it_is_commented(self) -> None:
        said = Feedback(correct=True, comment="Also name the invoice.")
        assert reflect(feedback=said).key_insight.endswith(": Also name the invoice.")
        known = bullet("sai-00001", 'For "x": also name the invoice.')
        assert reflect(feedback=said, bullets=(known,)).key_insight == ""

    def test_the_verdict_stands_above_the_comparison(self) -> None:
        assert reflect("crimson", Feedback(correct=True, expected="amber")).correct is True

    def test_feedback_that_contradicts_itself_is_told(self) -> None:
        reflection = reflect("amber", Feedback(correct=False, expected="amber"))
        assert reflection.key_insight == ""
        assert reflection.notes == ("The feedback calls the answer wrong, and expects just this answer.",)

    def test_an_empty_answer(self) -> None:
        reflection = reflect("", Feedback(expected="amber"))
        assert reflection.error is ErrorKind.OMISSION
        assert reflection.key_insight == 'For questions like "I paid two times." the complete answer is amber.'

    def test_texts_stand_as_they_are(self) -> None:
        """B13: braces in a question, an answer or a comment are no fields."""
        query = Query(text='Why does {x!r} "fail"?')
        reflection = reflect("{0}", Feedback(expected="{expected}", comment="{c}"), query=query)
        assert reflection.key_insight == (
            "For questions like \"Why does {x!r} 'fail'?\" the right answer is {expected}, not {0}. {c}"
        )

    def test_long_questions_are_cut_between_words(self) -> None:
        insight = reflect(feedback=Feedback(expected="amber"), query=Query(text="word " * 100)).key_insight
        assert '"word word' in insight
        assert "word … word" in insight
        assert len(insight) < 250

    def test_what_is_asked_is_named_whether_it_stands_first_or_last(self) -> None:
        """Tasks put the same long instruction before every question, or behind it."""
        instruction = "Answer with a number, two decimal places and no explanation. " * 5
        for text in (f"{instruction}Find the margin.", f"Find the margin. {instruction}"):
            assert (
                "Find the margin." in reflect(feedback=Feedback(expected="amber"), query=Query(text=text)).key_insight
            )

    def test_the_way_in_which_it_is_wrong_is_part_of_the_lesson(self) -> None:
        query = Query(text="Operating margin of 45 on 300?")
        reflection = reflect("0.15", Feedback(expected="15.0"), query=query)
        assert reflection.key_insight == (
            'For questions like "Operating margin of 45 on 300?" mind the unit and the scale: 15.0, not 0.15 '
            "(100 times too small: mind percent and fraction)."
        )
        assert reflection.root_cause.endswith("scale. 100 times too small: mind percent and fraction.")
        assert not reflection.restates

    def test_what_was_left_out_is_named(self) -> None:
        insight = reflect("Ana", Feedback(expected="Ana and Ben"), query=Query(text="Who?")).key_insight
        assert insight == 'For questions like "Who?" the complete answer is Ana and Ben ("and Ben" is missing).'

    @pytest.mark.parametrize(
        ("comment", "error"),
        [
            ("The unit is missing.", ErrorKind.UNIT),
            ("Give JSON, not prose.", ErrorKind.FORMAT),
            ("You miscalculated the sum.", ErrorKind.CALCULATION),
            ("It leaves out the second owner.", ErrorKind.OMISSION),
            ("Ask the other team.", ErrorKind.OTHER),
        ],
    )
    def test_a_comment_alone_tells_the_kind_of_error(self, comment: str, error: ErrorKind) -> None:
        reflection = reflect("x", Feedback(correct=False, comment=comment))
        assert reflection.error is error
        assert reflection.key_insight == f'For questions like "I paid two times.": {comment}'

    def test_a_comment_that_a_bullet_turns_round_is_new(self) -> None:
        known = bullet("sai-00001", "Do not name the invoice.")
        said = Feedback(correct=True, comment="Name the invoice.")
        assert reflect(feedback=said, bullets=(known,)).key_insight.endswith("Name the invoice.")

    @pytest.mark.parametrize("feedback", [Feedback(correct=True), Feedback(correct=True, expected="crimson")])
    def test_what_worked_is_a_lesson_where_nobody_had_told_it(self, feedback: Feedback) -> None:
        earlier = (EarlierAnswer(answer="teal"), EarlierAnswer(answer=""))
        insight = reflect(feedback=feedback, earlier=earlier).key_insight
        known = feedback.expected is not None
        assert insight == (
            "" if known else 'For questions like "I paid two times." the answer crimson was right, not teal or nothing.'
        )


class TestTags:
    SHOWN = (bullet("sai-00001"), bullet("err-00007"))

    def test_success_credits_what_was_named(self) -> None:
        right = Feedback(correct=True)
        assert reflect(feedback=right, bullets=self.SHOWN, used=("sai-00001",)).tags == {"sai-00001": "helpful"}
        assert reflect(feedback=right, bullets=self.SHOWN).tags == {}

    def test_failure_blames_only_what_was_named(self) -> None:
        tags = reflect(feedback=Feedback(correct=False), bullets=self.SHOWN, used=("sai-00001",)).tags
        assert tags == {"sai-00001": "harmful", "err-00007": "neutral"}

    def test_what_was_not_shown_is_not_tagged(self) -> None:
        assert reflect(feedback=Feedback(correct=True), bullets=self.SHOWN, used=("sai-00099",)).tags == {}
