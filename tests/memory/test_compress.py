"""Compress: fewer characters, the same advice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.memory.incoming.compress import compress
from cheatsheet.memory.likeness.facts import facts_of
from cheatsheet.memory.likeness.sameness import difference

SHORTER = [
    ("Please note that the table is   very large.", "The table is large."),
    ("It is important to note that you need to check the units.", "Check the units."),
    ("Make sure to close the file. Remember to read it  first.", "Close the file. Read it first."),
    ("Note that pip installs it.", "pip installs it."),
    ("In order to win, utilize it due to the fact that it is sorted.", "To win, use it because it is sorted."),
    ("It is able to run prior to the start.", "It can run before the start."),
    ("- Please, of course, add a row.", "- Please, add a row."),
    ("**Check** the units  \n\n\n\n  of it", "Check the units\n\n  of it"),
    ("Of course, a large number of rows is fine; please wait.", "Many rows is fine; wait."),
    ("please please please wait", "wait"),
]

KEPT = [
    "Check the units.",
    "please",
    "This is not very good, and it never is a very good idea.",
    "The derivative with respect to x.",
    "the authors note that x holds, and the amount you have to pay",
    "A large number of the rows",
    "Just check it; generally it is about right.",
    "x = please   1",
    "print(really  very)",
    "if very  large:",
    "    indented   please  code",
    "2**3**4 and f(**a, **b) and __init__",
    "请检查  单位",
    "Пожалуйста,  проверьте",
    "",
    "  \n ",
    "\U000f0000 please wait",
]

PIECES = [
    "`in order to  x`",
    '"please  note that"',
    "“very  good”",
    "$in order to  a$",
    "<tag  please>",
    "https://please.example/in  order",
]


@pytest.mark.parametrize(("text", "short"), SHORTER)
def test_words_that_say_nothing_go(text: str, short: str) -> None:
    assert compress(text) == short


@pytest.mark.parametrize("text", KEPT)
def test_what_carries_meaning_stays(text: str) -> None:
    assert compress(text) == text


@pytest.mark.parametrize("piece", PIECES[:-1])
def test_code_quotations_formulas_and_tags_stay_letter_by_letter(piece: str) -> None:
    assert compress(f"Please note that {piece}  holds") == f"{piece} holds"
    assert piece in compress(f"Kindly  use  {piece}, please.")


def test_fences_stay_letter_by_letter_also_when_they_are_not_closed() -> None:
    code = "```python\nplease   x\n\n\n\n  in order to\n```"
    assert compress(f"Please use  it:\n{code}\n\n\n\nplease  wait") == f"Use it:\n{code}\n\nwait"
    assert compress("Please use  it:\n```\nplease   x\n\n\n\ny") == "Use it:\n```\nplease   x\n\n\n\ny"


def test_known_acronyms_are_used_on_request() -> None:
    known = {"application programming interface": "API", "interface": "a longer word", "  ": "x", "KPI": "K"}
    text = "Read the Application  Programming Interface first; `application programming interface` stays"
    assert compress(text, known) == "Read the API first; `application programming interface` stays"
    assert compress(text) == text.replace("  ", " ")
    assert compress("KPIs are no KPI", known) == "KPIs are no K"


def test_where_something_would_be_lost_the_text_stays() -> None:
    """An acronym that is a negation, or takes a number away, is not used."""
    assert compress("Use the old way", {"old way": "not"}) == "Use the old way"
    assert compress("Use 5  rows", {"5 rows": "few"}) == "Use 5  rows"


fillers = "Please|Note that|please note that|in order to|Make sure to|very|really|of course,|basically".split("|")
plain = "check|the units|not|never|5 %|1,000|`a  b`|Berlin|write_rows|数据库|>= 3|\n|  |.|- ".split("|")
advice = st.lists(st.sampled_from(fillers + plain) | st.text(max_size=6), max_size=12).map(" ".join)


@given(text=advice)
def test_compressing_twice_is_compressing_once(text: str) -> None:
    assert compress(compress(text)) == compress(text)


@given(text=advice)
def test_it_is_never_longer_and_never_blank(text: str) -> None:
    short = compress(text, {"the units": "U"})
    assert len(short) <= len(text)
    assert bool(short.strip()) == bool(text.strip())


@given(text=advice)
def test_numbers_negations_code_and_names_stay(text: str) -> None:
    before, after = facts_of(text), facts_of(compress(text))
    assert after.numbers == before.numbers
    assert after.negations == before.negations
    assert after.code == before.code
    assert [name for name in before.names if name not in after.folded] == []


@pytest.mark.parametrize(("text", "short"), SHORTER[:4])
def test_the_short_text_is_the_same_advice(text: str, short: str) -> None:
    assert difference(text, short) is None


@pytest.mark.parametrize(
    "piece", ["please ", "a ", "`", '"', "**a", "in order ", "make sure ", "\n", " ", "$", "<", "= "]
)
def test_it_does_not_blow_up_on_long_texts(piece: str) -> None:
    """Thirty thousand characters take a moment; were the work to grow with their square, this would take minutes."""
    text = "x " + piece * (30_000 // len(piece))
    assert len(compress(text)) <= len(text)
