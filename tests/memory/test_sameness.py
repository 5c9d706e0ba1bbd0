"""Sameness: what tells two near texts apart, what does not, and its laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.memory.likeness.facts import facts_of
from cheatsheet.memory.likeness.lexicon import spelled_value, stem
from cheatsheet.memory.likeness.sameness import contains, difference, fold

APART = [
    # Negation, with its contractions, and what it negates
    ("Call the batch endpoint for exports", "Do not call the batch endpoint for exports", "negates"),  # D01
    ("Use the batch endpoint", "Don't use the batch endpoint", "negates"),
    ("Use the batch endpoint", "The batch endpoint shouldn’t be used", "negates"),
    (
        "Warm the lookup table at start",
        "Never skip a health probe when you warm the lookup table at start",
        "neg",
    ),  # D02
    ("Retry on timeouts but do not log them", "Log timeouts but do not retry on them", "negate different things"),
    ("Use the map API, not the filter API", "Use the filter API, not the map API", "negate|order"),
    ("Do not log timeouts; retry failures", "Log timeouts; do not retry failures", "negate different things"),
    ("Datenbank immer schließen", "Datenbank nie schließen", "negates"),
    ("Закрывайте соединение", "Не закрывайте соединение", "negates"),
    ("डेटाबेस बंद करें", "डेटाबेस बंद नहीं करें", "negates"),
    # Numbers, units, percent
    ("Set the timeout to 30 s", "Set the timeout to 30 ms", "numbers differ"),
    ("Set the timeout to 30 seconds", "Set the timeout to 30 minutes", "numbers differ"),
    ("Set the timeout to thirty seconds", "Set the timeout to forty seconds", "numbers differ"),
    ("Income tax is 20%", "Income tax is 25%", "numbers differ"),
    ("Income tax is 20%", "Income tax is 20", "numbers differ"),
    ("The fee is $5", "The fee is €5", "numbers differ"),
    ("Move it by 5", "Move it by -5", "numbers differ"),
    ("Keep 1,000 rows", "Keep 1.000 rows", "numbers differ"),
    ("Compute x²", "Compute x³", "numbers differ"),
    ("Use k=5 for A and k=7 for B", "Use k=7 for A and k=5 for B", "numbers stand in another order"),
    # Dates and versions
    ("The deadline is 2024-01-05", "The deadline is 2024-05-01", "another order"),
    ("The deadline is 5 January", "The deadline is 5 February", "name|opposite"),
    ("Release on Monday", "Release on Tuesday morning", "name|opposite"),
    ("release it every monday", "release it every tuesday morning", "opposite"),
    ("Upgrade to python 3.11", "Upgrade to python 3.12", "numbers differ"),
    ("Use TLS 1.3", "Use TLS 1.2", "numbers differ"),
    # Names and code identifiers
    ("Ask Ana about billing", "Ask Ben about billing", "name"),
    ("Ana reviews the code of Ben", "Ben reviews the code of Ana", "name|order"),
    ("Ask Ana, then Ben, then Cid", "Ask Ana, then Cid, then Ben", "name things in another order"),
    ("Write with write_rows", "Write with write_table", "name"),
    ("Use `Foo` here", "Use `foo` here", "code"),
    ("Call parseRows first", "Call parseCells first", "name"),
    ("Pass --force to the command", "Pass --dry-run to the command", "name"),
    ("Split on ','", "Split on ';'", "name"),
    ('Answer "yes" to the prompt', 'Answer "no" to the prompt', "negates|name"),
    ("Loop:\n```\nfor a in b:\n    c()\n    d()\n```", "Loop:\n```\nfor a in b:\n    c()\nd()\n```", "code"),
    # Comparisons and signs
    ("x must be > 5", "x must be >= 5", "compare"),
    ("Allow at least 3 retries", "Allow at most 3 retries", "compare"),
    ("Allow 3 retries", "Allow up to 3 retries", "compare"),
    ("Keep rows with more than 3 cells", "Keep rows with fewer than 3 cells", "compare"),
    ("It holds that speed < limit here", "It holds that limit < speed here", "order"),
    ("The area is a * b", "The area is a + b", "compare"),
    ("Mark it with ✅ when done", "Mark it with ❌ when done", "compare"),
    # Words
    ("Deploy target is region north", "Deploy target is region south", "opposite"),  # D04
    ("Use safe mode for parsing", "Use unsafe mode for parsing", "opposite"),
    ("Put valid inputs first", "Put invalid inputs first", "opposite"),
    ("Round the result up", "Round the final result down", "opposite"),
    ("Check A and B of the matrix", "Check A or B of the matrix", "opposite"),
    ("You must sign the form", "You may sign the form", "opposite"),
    ("Increase it by 5", "Increase it to 5", "opposite"),
    ("Sum the rows", "Sum the columns", "opposite"),
    ("Deploy on fridays", "Deploy only on fridays", "condition"),
    ("Use the cache", "Use the cache if the network is down", "condition"),
    ("Pay the employee", "Pay the employer", "words"),
    ("Write a commit for each change", "Write a comment for each change", "words"),
    ("Check the units", "Check the units of the pressure reading in the second chamber", "few words"),
    (
        "Restart the worker after deploying the billing service",
        "Restart the worker after you deploy the search service",
        "'bil', 'search'",
    ),
    # The same words in another order
    ("Copy the file from staging to production", "Copy the file from production to staging", "order"),
    ("Validate the input before parsing the request", "Parse the request before validating the input", "order"),
    ("Divide the total by the count", "Divide the count by the total", "order"),
    ("The client calls the server", "The server calls the client", "order"),
    ("Log, then retry", "Retry, then log", "order"),
    # Scripts without spaces
    ("数据库连接要关闭", "周五不要发布", "negates|few words"),  # D18
    ("数据库连接要关闭", "周五可以发布新版本", "few words"),
    ("周五发布新版本", "周六发布新版本", "words"),
    ("周五要发布", "周五不要发布", "negates"),
    ("把数据从甲复制到乙", "把数据从乙复制到甲", "order|few words"),
    ("人咬狗", "狗咬人", "few words|order"),
    ("แมวกินปลา", "ปลากินแมว", "words"),
    ("接続を閉じる", "接続を開ける", "opposite|words"),
    ("月曜日にデプロイする", "月曜日にデプロイしない", "negates"),
    ("データベースの接続を閉じる", "サーバーの設定を確かめる", "few words"),
    ("데이터베이스 연결을 닫으세요", "데이터베이스 연결을 여세요", "words"),
    ("금요일에 배포하세요", "금요일에 배포하지 마세요", "negates|few words"),
    ("ปล่อยเวอร์ชันใหม่วันศุกร์", "อย่าปล่อยเวอร์ชันใหม่วันศุกร์", "negates"),
    ("ปิดการเชื่อมต่อฐานข้อมูล", "เปิดการเชื่อมต่อฐานข้อมูล", "words"),
    # Nothing but function words, or no words at all
    ("Do it with them", "Do it for them", "few words"),
    ("🙂", "🙃", "compare"),
]

SAME = [
    ("Always check the units of both sides before you answer.", "Before you answer, check the units of both sides."),
    ("Always verify the units", "Check the units"),
    ("Make sure to check the units before answering", "Check the units before you answer"),
    ("Don't forget to close the file after reading", "Close the file after reading"),
    ("It is important to validate the input before parsing it", "Validate inputs before parsing them"),
    ("Set the timeout to 30 seconds", "Set the timeout to thirty seconds."),
    ("Set the timeout to 30 s", "The timeout should be set to 30 seconds"),
    ("Keep twenty-five rows", "Keep 25 rows"),
    ("Use 1,000 rows at most", "Use at most 1000 rows"),
    ("Allow no more than 3 retries", "Allow at most 3 retries"),
    ("Keep x >= 5 here", "Keep x ≥ 5 here"),
    ("Never use the batch endpoint for exports", "Do not use the batch endpoint for exports"),
    ("Use the map API instead of the filter API", "Use the map API, not the filter API"),
    ("Use `write_rows` to store the table", "Use write_rows to store the table"),
    ("Growth of 5% a year", "growth of 5 percent a year"),
    ("Answer with the final number only", "Respond with only the final number"),
    ("Berlin rules apply to the form", "To the form apply Berlin rules"),
    ("- Check the units", "Check the units."),
    ("**Check** the units", "Check the units"),
    ("For compound interest, use A = P(1 + r/n)^(nt)", "Use A = P(1 + r/n)^(nt) for compound interest"),
    ("数据库连接要关闭", "要关闭数据库连接"),
    ("请关闭数据库连接", "数据库连接要关闭"),
    ("データベースの接続を閉じてください", "データベースの接続を閉じる"),
    ("데이터베이스 연결을 닫으세요", "데이터베이스 연결은 닫으세요"),
    ("ปิดการเชื่อมต่อฐานข้อมูล", "ปิดการเชื่อมต่อฐานข้อมูลเสมอ"),
    ("schließe die größere datei", "schließe die größeren datei"),
]


@pytest.mark.parametrize(("one", "two", "why"), APART)
def test_what_only_looks_alike_is_told_apart_and_why(one: str, two: str, why: str) -> None:
    reason = difference(one, two)
    assert reason is not None
    assert any(part in reason for part in why.split("|")), reason


@pytest.mark.parametrize(("one", "two"), SAME)
def test_paraphrases_are_the_same(one: str, two: str) -> None:
    assert difference(one, two) is None


@pytest.mark.parametrize("pair", [*SAME, *((one, two) for one, two, _ in APART)])
def test_the_order_of_two_texts_does_not_matter(pair: tuple[str, str]) -> None:
    assert (difference(pair[0], pair[1]) is None) == (difference(pair[1], pair[0]) is None)


def test_long_texts_with_the_same_beginning_are_read_to_their_end() -> None:
    """D14: the embedding does not read that far, so the words must decide."""
    beginning = " ".join(f"word{chr(97 + n % 26)}" for n in range(600))
    one, two = f"{beginning} 'use TLS 1.3'", f"{beginning} 'use plain TCP'"
    assert difference(one, two) is not None
    assert difference(one, f"{beginning}  'use TLS 1.3'.") is None
    extended = f"{beginning} and so it goes on with many more lessons of another kind"
    assert difference(beginning, extended) is not None
    turned = " ".join(reversed(beginning.split()[300:]))
    assert difference(beginning, f"{' '.join(beginning.split()[:300])} {turned}") is not None


@pytest.mark.parametrize(
    "piece", ["a ", "a_", "`", "```\n", '"', "“", "数", "1,", "not ", "make sure ", "one ", "- ", "*a"]
)
def test_reading_does_not_blow_up_on_long_texts(piece: str) -> None:
    """Thirty thousand characters take a moment; were the work to grow with their square, this would take minutes."""
    text = piece * (30_000 // len(piece))
    assert difference(text, f"{text} x = 7") is not None


texts = st.text(max_size=80) | st.sampled_from([text for pair in SAME for text in pair])


@given(one=texts, two=texts)
def test_difference_is_symmetric_and_never_raises(one: str, two: str) -> None:
    assert (difference(one, two) is None) == (difference(two, one) is None)


@given(text=texts, spaces=st.sampled_from([" ", "  ", "\n", " \t "]))
def test_white_space_case_and_a_full_stop_are_no_difference(text: str, spaces: str) -> None:
    plain = " ".join(word for word in text.split() if "`" not in word and "~" not in word)
    varied = f"{spaces}{plain.replace(' ', spaces)}."
    assert difference(plain, varied) is None
    assert fold(plain.rstrip(".!。")) == fold(varied)


@given(text=texts, number=st.integers(0, 10**6))
def test_a_number_more_is_always_a_difference(text: str, number: int) -> None:
    assert difference(text, f"{text}\nKeep {number}") is not None


@given(text=texts)
def test_a_negation_more_is_always_a_difference(text: str) -> None:
    assert difference(text, f"{text}\nNever") is not None


def test_the_one_that_says_more_contains_the_other() -> None:
    more, less = "Check the units of both sides before you answer", "Check the units before answering"
    assert contains(more, less)
    assert not contains(less, more)
    assert not contains(less, less)


def test_facts_are_read_in_one_spelling() -> None:
    facts = facts_of("Wait at least thirty seconds, or 1,500 ms, for `Foo.bar`: it isn't ready before.")
    assert facts.numbers == ("30s", "1500ms")
    assert facts.operators == ("≥",)
    assert facts.code == ("Foo.bar",)
    assert facts.names == ("foo.bar",)
    assert facts.negations == 1
    assert facts.negated == (frozenset({"ready"}),)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("five", 5),
        ("twenty-five", 25),
        ("three hundred and two", 302),
        ("two thousand", 2000),
        ("one million", 1_000_000),
    ],
)
def test_spelled_numbers(words: str, value: int) -> None:
    assert spelled_value(words) == value


def test_endings_do_not_make_another_word_and_other_words_stay_other_words() -> None:
    for forms in (
        "unit units",
        "close closes closed closing",
        "verify verifies check checking",
        "plan planning planned",
    ):
        assert len({stem(word) for word in forms.split()}) == 1, forms
    for others in ("employee employer", "commit comment", "string sting", "apply app", "status statue"):
        assert len({stem(word) for word in others.split()}) == 2, others
