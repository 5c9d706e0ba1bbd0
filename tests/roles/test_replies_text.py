"""Thinking, answers and ids out of replies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.roles.replies import IdMatcher, read_answer, read_used_ids, strip_thinking
from tests.roles.strategies import NONSENSE, messy_text

TEAMS = ("amber", "crimson", "dark amber")

THINKING = {
    "closed": ("<think>why</think> 7", " 7"),
    "other names": ("<thinking>a</thinking><Reasoning>b</Reasoning><thought>c</thought>7", "7"),
    "in the middle": ("So <think>hm</think>7", "So 7"),
    "never closed": ("<think>why, because", ""),
    "never closed, on a later line": ("7\n<think>was it?", "7\n"),
    "never opened": ("because\n</think>\n7", "\n7"),
    "a stray end": ("7</think>", "7"),
    "one inside another": ("<think>a <think>b</think> c</think> 7", " 7"),
    "closed by another name": ("<think>a</thinking>7", "7"),
    "a tag that is not finished": ("<think\nwhy</think\n7", "\n7"),
    "blanks and attributes": ('< think time="3s" >why</ think >7', "7"),
    "empty": ("<think/>7", "<think/>7"),
    "a word about tags": ("The <think> tag is for reasoning.", "The <think> tag is for reasoning."),
    "a tag in a string": ('{"a": "<think>", "b": "</think>"}', '{"a": "<think>", "b": "</think>"}'),
    "no tags": ("a < b and b > c", "a < b and b > c"),
}


@pytest.mark.parametrize(("text", "rest"), THINKING.values(), ids=THINKING)
def test_thinking_is_left_out(text: str, rest: str) -> None:
    assert strip_thinking(text) == rest


@given(messy_text)
def test_stripping_thinking_never_raises_and_adds_nothing(text: str) -> None:
    assert len(strip_thinking(text)) <= len(text)


ANSWERS = {
    "P20 a draft in the thinking": ("<think>try <answer>3</answer>? no.</think> So <answer>7</answer>", "7", "tag"),
    "P21 a marker without a fence": ("FINAL ANSWER: 42", "42", "marker"),
    "P21 a marker before a fence": ("FINAL ANSWER:\n```\n42\n```", "42", "marker"),
    "P21 a marker in a fence": ("So:\n```\nFINAL ANSWER: 42\n```", "42", "marker"),
    "P21 a marker before a formula": ("### FINAL ANSWER:\n\\[\n\\boxed{237}\n\\]", "237", "marker"),
    "P21 a marker before a tag": ("FINAL ANSWER:\n<answer>\n42\n</answer>", "42", "tag"),
    "P25 an envelope": ('{"answer": "Lima", "rules_followed": "all"}', "Lima", "envelope"),
    "P25 an envelope in a fence": ('```json\n{"final_answer": "Lima"}\n```', "Lima", "envelope"),
    "P25 ACE's form": ('{"reasoning": "<answer>3</answer>", "bullet_ids": [], "final_answer": "7"}', "7", "envelope"),
    "P25 an envelope after prose": ('I am sure.\n{"answer": "Lima"}', "Lima", "envelope"),
    "P25 an envelope with a number": ('{"answer": 42}', "42", "envelope"),
    "P25 an envelope without an answer": ('{"answer": null}', '{"answer": null}', "text"),
    "P26 blanks before the marker": ("   FINAL ANSWER: 12\nnotes[[end]]", "12", "marker"),
    "P26 a marker in a line": ("So the FINAL ANSWER: 12", "12", "marker"),
    "P26 a marker in bold": ("**Final answer:** 12", "12", "marker"),
    "P22 a word about the tag": ("I will use <answer> tags.\n<answer>7</answer>", "7", "tag"),
    "N13 two boxes": (r"I get \boxed{4}. So \boxed{4} holds.", "4", "box"),
    "a box with braces inside": (r"Thus \boxed{\frac{1}{2}}.", r"\frac{1}{2}", "box"),
    "a box in a tag": (r"<answer>\boxed{4}</answer>", "4", "tag"),
    "a box in a box": (r"\boxed{\boxed{4}}", "4", "box"),
    "a box that is not closed": (r"\boxed{3} and \boxed{4", "3", "box"),
    "the last tag": ("<answer>3</answer> wait <answer>7</answer>", "7", "tag"),
    "a tag cut by its end": ("So <answer>7", "7", "open-tag"),
    "an empty tag": ("<answer></answer>", "", "tag"),
    "several answers in a list are no envelope": (
        '[{"q": 1, "answer": "x"}, {"q": 2, "answer": "y"}]',
        '[{"q": 1, "answer": "x"}, {"q": 2, "answer": "y"}]',
        "text",
    ),
    "plain text": ("  Lima\n", "Lima", "text"),
    "code is left alone": ("print({'a': 1})", "print({'a': 1})", "text"),
    "only thinking": ("<think>hm", "", "text"),
}


@pytest.mark.parametrize(("text", "answer", "how"), ANSWERS.values(), ids=ANSWERS)
def test_the_answer_without_its_wrapping(text: str, answer: str, how: str) -> None:
    reading = read_answer(text)
    assert (reading.value, reading.how) == (answer, how)


CHOICES = {
    "bare": ("Amber.", "amber"),
    "bold": ("**Dark Amber**", "dark amber"),
    "in a sentence": ("That goes to the Crimson team.", "crimson"),
    "the last one": ("amber? No: Crimson", "crimson"),
    "the longer one": ("It is dark amber", "dark amber"),
    "not as part of a word": ("amberly crimson-ish", "crimson"),
    "not the one that is ruled out": ("crimson, not amber", "crimson"),
    "in a tag": ("crimson is near, <answer>Amber</answer>", "amber"),
    "none": ("<answer>blue</answer>", "blue"),
}


@pytest.mark.parametrize(("text", "answer"), CHOICES.values(), ids=CHOICES)
def test_the_choice_as_it_is_written(text: str, answer: str) -> None:
    assert read_answer(text, TEAMS).value == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Answer clearly stands out.\nAnswer: B", "B"),
        ("Option C fails, so the answer is A", "A"),
        ("Antwort: Antwort: D", "D"),
        ("B is a good choice", "B"),
        ("(c)", "C"),
    ],
)
def test_letters_are_choices_not_articles(text: str, answer: str) -> None:
    """N17"""
    assert read_answer(text, ("A", "B", "C", "D")).value == answer


def test_choices_in_other_scripts_and_with_signs() -> None:
    assert read_answer("答案是苹果。", ("苹果", "梨")).value == "苹果"
    assert read_answer("I would take C++.", ("C", "C++")).value == "C++"
    assert read_answer("", ("?", " ")).value == ""
    assert read_answer("in PA", ("Pa", "PA")).value == "PA"


@given(messy_text, st.sampled_from([(), TEAMS, ("A", "B"), ("", "?")]))
def test_reading_an_answer_never_raises(text: str, choices: tuple[str, ...]) -> None:
    reading = read_answer(text, choices)
    assert reading.value == reading.value.strip() or reading.value in choices


@given(st.sampled_from(TEAMS), st.sampled_from(["{}", "<answer>{}</answer>", "FINAL ANSWER: {}", "\\boxed{{{}}}"]))
def test_an_answer_is_read_from_each_wrapping(team: str, wrapping: str) -> None:
    """Law: a choice comes out of whatever it was put into."""
    assert read_answer(wrapping.format(team.upper()), TEAMS).value == team


KNOWN = ("sai-00001", "calc-00012", "err-00007")

IDS = {
    "as they are": ("I used [sai-00001] and [calc-00012].", ("sai-00001", "calc-00012")),
    "B09 without zeros, in another case": ("From SAI-1, Calc_12", ("sai-00001", "calc-00012")),
    "in the order of their mention, once": ("calc-12, sai-1, calc-00012", ("calc-00012", "sai-00001")),
    "unknown ones": ("sai-00002 and v-1", ()),
    "not the beginning of another": ("calc-120 sai-10", ()),
    "a line says it alone": ("[err-00007] does not fit here.\nUsed: [sai-1]\n", ("sai-00001",)),
    "a line says there is none": ("[err-00007] does not fit here.\n**Used notes:** none", ()),
    "ACE's list says it alone": ('{"reasoning": "not sai-1", "bullet_ids": ["calc-12"]}', ("calc-00012",)),
    "not in the thinking": ("<think>sai-1?</think> err-7", ("err-00007",)),
    "a number alone": ("note 1, sai 1", ()),
}


@pytest.mark.parametrize(("text", "ids"), IDS.values(), ids=IDS)
def test_ids_that_were_used(text: str, ids: tuple[str, ...]) -> None:
    assert read_used_ids(text, KNOWN) == ids


def test_an_id_that_fits_two_fits_none_unless_exactly() -> None:
    matcher = IdMatcher(["a-1", "a-01", "b-2"])
    assert matcher.match("[A-01]") == "a-01"
    assert matcher.match("a-001") is None
    assert matcher.match("b 2") == "b-2"
    assert matcher.match("") is None


@given(messy_text)
def test_used_ids_are_known_ones(text: str) -> None:
    assert set(read_used_ids(text, KNOWN)) <= set(KNOWN)


@pytest.mark.parametrize("unit", NONSENSE)
def test_long_nonsense_is_read(unit: str) -> None:
    """200 kB; a search that takes the square of that would run into the time limit of the tests."""
    text = unit * (200_000 // len(unit))
    assert len(strip_thinking(text)) <= len(text)
    assert len(read_answer(text, TEAMS).value) <= len(text)
    assert read_used_ids(text, ["b-2"]) == ()
