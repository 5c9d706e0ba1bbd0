"""JSON out of replies. Numbers such as P01 are cases that were reported of similar systems."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.roles.replies import Echo, read_json, without_unfinished
from tests.roles.strategies import NONSENSE, messy_text

FENCE = "```"

READABLE: dict[str, tuple[str, Any, str]] = {
    "P01 a fence inside a string": (
        r'{"content": "Quote logs like ```text\nERR 5\n```", "tag": "helpful"}',
        {"content": "Quote logs like ```text\nERR 5\n```", "tag": "helpful"},
        "whole",
    ),
    "P02 a fence around a string with a fence": (
        '```json\n{"bullets": [{"content": "put ```json before data"}]}\n```',
        {"bullets": [{"content": "put ```json before data"}]},
        "fenced",
    ),
    "P04 prose around a fence": (
        'Here you go:\n```json\n{"operations":[{"type":"ADD","section":"others","content":"x"}]}\n```\nShout if more.',
        {"operations": [{"type": "ADD", "section": "others", "content": "x"}]},
        "fenced",
    ),
    "P05 the first fence is of another language": (
        'I ran:\n```bash\nls {a,b}\n```\nResult:\n{"operations": [], "reasoning": "nothing new"}',
        {"operations": [], "reasoning": "nothing new"},
        "embedded",
    ),
    "P08 braces in the thinking": (
        '<think>maybe {rule: 1}? no, {2}</think>\n{"facts": ["prefers tabs"]}',
        {"facts": ["prefers tabs"]},
        "whole",
    ),
    "P14 a bare array": (
        '[{"type": "ADD", "section": "others", "content": "pin versions"}]',
        [{"type": "ADD", "section": "others", "content": "pin versions"}],
        "whole",
    ),
    "P17 a trailing comma": (
        '{"operations": [{"type": "ADD", "section": "x", "content": "y"},]}',
        {"operations": [{"type": "ADD", "section": "x", "content": "y"}]},
        "whole",
    ),
    "P18 what looks like a trailing comma, in a string": (
        '{"content": "split on [;,] or stop at {a, }"}',
        {"content": "split on [;,] or stop at {a, }"},
        "whole",
    ),
    "P18 the same beside a real trailing comma": (
        '{"content": "split on [;,] or stop at {a, }", }',
        {"content": "split on [;,] or stop at {a, }"},
        "whole",
    ),
    "raw line breaks in a string": ('{"content": "one\ntwo"}', {"content": "one\ntwo"}, "whole"),
    "a byte order mark": ('\ufeff{"a": 1}', {"a": 1}, "whole"),
    "a fence that is never closed": (f'{FENCE}json\n{{"a": 1}}', {"a": 1}, "fenced"),
    "a fence with tildes": ('~~~\n{"a": 1}\n~~~', {"a": 1}, "fenced"),
    "a longer fence around a shorter one": (
        f'{FENCE}`json\n{{"a": "x\n{FENCE}\ny"}}\n{FENCE}`',
        {"a": f"x\n{FENCE}\ny"},
        "fenced",
    ),
    "a quote that is open in prose": ('[see "above\n{"a": 1}', {"a": 1}, "embedded"),
    "a brace that is open in prose": ('a set { of \n{"a": {"b": 2}}', {"a": {"b": 2}}, "embedded"),
    "a citation beside an object": ('As in [1]: {"a": 1}. See [2].', {"a": 1}, "embedded"),
    "single quotes": ("{'a': 'it is'}", {"a": "it is"}, "repaired"),
    "cut in the middle": ('Sure: {"a": [{"b": "use the', {"a": [{"b": "use the"}]}, "repaired"),
    "a tag inside a string": (
        'Here: {"content": "write <think>x</think> first"}',
        {"content": "write <think>x</think> first"},
        "embedded",
    ),
}


@pytest.mark.parametrize(("text", "value", "how"), READABLE.values(), ids=READABLE)
def test_reads_json_as_models_write_it(text: str, value: Any, how: str) -> None:
    reading = read_json(text)
    assert (reading.value, reading.how) == (value, how)


def test_latex_keeps_its_backslashes() -> None:
    """P16: `\\f` is a form feed for JSON, `\\a` is an error, and both were meant as LaTeX."""
    reading = read_json(r'{"content": "use \frac{a}{b}, then \alpha"}')
    assert reading.value == {"content": r"use \frac{a}{b}, then \alpha"}


@pytest.mark.parametrize(
    "latex", [r"\beta", r"\binom{n}{k}", r"\theta", r"\times", r"\text{kg}", r"\nabla f", r"\neq", r"\rho", r"\right)"]
)
def test_latex_that_begins_like_an_escape(latex: str) -> None:
    """P16, the whole kind: alone, beside other LaTeX, and when the model did escape it."""
    assert read_json('{"a": "x ' + latex + ' y"}').value == {"a": f"x {latex} y"}
    assert read_json(json.dumps({"a": latex})).value == {"a": latex}


def test_line_breaks_and_tabs_stay_what_they_are() -> None:
    """P16, the other side: an escape that was meant is not taken for LaTeX."""
    text = "first\nnext\nnow\ttab\tto\r\nright here\ttext of it"
    assert read_json(json.dumps({"a": text})).value == {"a": text}


def test_backslashes_are_kept_by_the_repair_too() -> None:
    assert read_json(r"""{'a': '\frac{1}{2} and \alpha'""").value == {"a": r"\frac{1}{2} and \alpha"}


def test_half_a_surrogate_pair_is_replaced() -> None:
    """It can be neither stored nor sent; a whole pair is a character."""
    assert read_json(r'{"a": "\ud83d x", "b": "\ud83d\ude00"}').value == {"a": "\ufffd x", "b": "😀"}
    assert read_json('{"a": "\ud83d"}').value == {"a": "\ufffd"}


class TestWanted:
    def test_an_example_comes_first(self) -> None:
        """P24"""
        reading = read_json(
            'Example: {"id": "demo"}\nReal: {"reasoning": "r", "operations": []}', wants=("operations",)
        )
        assert reading.value == {"reasoning": "r", "operations": []}

    def test_an_example_in_a_fence(self) -> None:
        text = '```json\n{"id": "demo"}\n```\nAnd so:\n{"operations": [1,],}'
        assert read_json(text, wants=("operations",)).value == {"operations": [1]}

    def test_the_last_of_several(self) -> None:
        text = 'Draft: {"operations": [1]}\nFinal: {"operations": [2]}'
        assert read_json(text, wants=("operations",)).value == {"operations": [2]}

    def test_inside_an_envelope(self) -> None:
        assert read_json('{"result": {"operations": []}}', wants=("operations",)).value == {"operations": []}

    def test_inside_brackets_that_are_no_json(self) -> None:
        text = 'Now {as I said: {"operations": [{"type": "ADD"}]}}'
        assert read_json(text, wants=("operations",)).value == {"operations": [{"type": "ADD"}]}

    def test_what_is_wanted_is_preferred_not_required(self) -> None:
        assert read_json('{"a": 1}', wants=("operations",)).value == {"a": 1}

    def test_an_array_of_objects_before_an_example(self) -> None:
        """P14 and P24 together."""
        text = 'Like {"id": "demo"}: [{"type": "ADD"}]'
        assert read_json(text, wants=("operations",)).value == [{"type": "ADD"}]

    def test_what_a_cut_reply_holds_is_completed(self) -> None:
        text = '{"operations": [{"type": "ADD", "content": "whole"}, {"type": "ADD", "content": "in the mid'
        reading = read_json(text, wants=("operations",))
        assert reading.how == "repaired"
        assert isinstance(reading.value, dict)
        assert reading.value["operations"][0] == {"type": "ADD", "content": "whole"}

    def test_a_draft_in_cut_thinking_is_not_read(self) -> None:
        assert read_json('<think>perhaps {"operations": [1]}', wants=("operations",)).value is None


@pytest.mark.parametrize("text", ["", "  ", "no json", "42", '"text"', "{", "}{", "[}", "null", "1" * 5000])
def test_what_is_no_json_is_unreadable(text: str) -> None:
    reading = read_json(text)
    assert (reading.value, reading.how) == (None, "unreadable")


def test_the_unfinished_part_of_a_cut_value_is_left_out() -> None:
    assert without_unfinished({"reasoning": "r", "operations": [1, 2]}) == {"reasoning": "r", "operations": [1]}
    assert without_unfinished({"a": "whole", "b": "cu"}) == {"a": "whole"}
    assert without_unfinished([1, 2]) == [1]
    assert without_unfinished({}) == {}


CUTS: dict[str, tuple[str, Any]] = {
    "in an item": ('{"a": "x", "l": [{"n": 1}, {"n": 2, "m": "', {"a": "x", "l": [{"n": 1}]}),
    "behind an item": ('{"a": "x", "l": [{"n": 1}', {"a": "x", "l": [{"n": 1}]}),
    "behind a comma": ('{"a": "x", "l": [{"n": 1},', {"a": "x", "l": [{"n": 1}]}),
    "in a text": ('{"a": "x", "b": "half of', {"a": "x"}),
    "behind a text": ('{"a": "x", "b": "whole"', {"a": "x", "b": "whole"}),
    "in a number": ('{"a": "x", "b": 12', {"a": "x"}),
    "in a key": ('{"a": "x", "b', {"a": "x"}),
    "behind a key": ('{"a": "x", "b":', {"a": "x"}),
    "in an object": ('{"a": {"c": "y", "d": "z', {"a": {"c": "y"}}),
    "in LaTeX": (r'{"a": "\frac{1}{2}", "b": "\alp', {"a": r"\frac{1}{2}"}),
    "in a fence": ('Here:\n```json\n{"a": "x",\n "b": [', {"a": "x", "b": []}),
    "behind a brace in prose": ('a set { of. {"a": "x", "b": "', {"a": "x"}),
    "behind an object that is complete": ('Like {"a": 0}: {"a": "x", "b": "', {"a": "x"}),
}


@pytest.mark.parametrize(("text", "value"), CUTS.values(), ids=CUTS)
def test_what_was_finished_before_a_cut_is_kept(text: str, value: Any) -> None:
    reading = read_json(text, wants=("a",), cut=True)
    assert (reading.value, reading.how) == (value, "cut")


_words = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\\"))


@given(
    items=st.lists(st.dictionaries(st.sampled_from("abc"), _words | st.integers()), max_size=4), share=st.floats(0, 1)
)
def test_an_item_is_kept_whole_or_not_at_all(items: list[dict[str, Any]], share: float) -> None:
    """Law: wherever the reply is cut, what comes back is a beginning of the list, and loses at most one item."""
    whole = json.dumps({"why": "x", "items": items}, ensure_ascii=False)
    start = whole.index("[") + 1
    cut = start + int(share * (len(whole) - start))
    value = read_json(whole[:cut], wants=("items",), cut=True).value
    assert isinstance(value, dict)
    assert value["items"] == items[: len(value["items"])]
    reached = json.dumps(items[: len(value["items"]) + 1], ensure_ascii=False)
    assert cut - start <= len(reached) + len("]}")


ITEMS: dict[str, tuple[str, Any]] = {
    "one alone": ('{"id": "a", "tag": "helpful"}', [{"id": "a", "tag": "helpful"}]),
    "one a line": (
        '{"id": "a", "tag": "x"}\n{"id": "b", "tag": "y"}',
        [{"id": "a", "tag": "x"}, {"id": "b", "tag": "y"}],
    ),
    "a list that is cut": ('[{"id": "a", "tag": "x"}, {"id": "b', [{"id": "a", "tag": "x"}]),
    "behind an example": ('Like {"demo": 1}: [{"id": "a", "tag": "x"}]', [{"id": "a", "tag": "x"}]),
    "not where the object is there": ('[{"id": "a", "tag": "x"}] {"tags": []}', {"tags": []}),
    "not a schema": ('{"id": "x", "tag": "y", "type": "object"}', [{"id": "x", "tag": "y", "type": "object"}]),
}


@pytest.mark.parametrize(("text", "value"), ITEMS.values(), ids=ITEMS)
def test_items_stand_for_the_object_that_holds_them(text: str, value: Any) -> None:
    assert read_json(text, wants=("tags",), items=("id", "tag"), cut=True).value == value


class TestEcho:
    EXAMPLE: ClassVar = {"why": "the reason", "items": [{"type": "ADD", "text": "the advice"}]}
    SCHEMA: ClassVar = {
        "type": "object",
        "properties": {"why": {"type": "string"}, "items": {"type": "array", "items": {"type": ["string", "null"]}}},
        "required": ["why", "items"],
    }

    def read(self, text: str) -> Any:
        echo, wants = Echo.of(self.EXAMPLE), ("why", "items")
        reading = read_json(text, wants=wants, items=("type",), refuse=lambda value: echo.repeats(value, wants))
        return reading.value, reading.how

    def test_the_form_is_no_data(self) -> None:
        for form in (
            self.EXAMPLE,
            self.SCHEMA,
            {"json_schema": self.EXAMPLE},
            {**self.EXAMPLE, "why": " The Reason. "},
        ):
            assert self.read(json.dumps(form)) == (None, "refused")
            assert self.read(f"```json\n{json.dumps(form)}\n```") == (None, "refused")

    def test_data_beside_the_form_is_found(self) -> None:
        data = {"why": "x", "items": []}
        for form in (self.EXAMPLE, self.SCHEMA):
            assert self.read(f"{json.dumps(data)}\n\n{json.dumps(form)}") == (data, "embedded")
            assert self.read(f"{json.dumps(form)}\n\n{json.dumps(data)}") == (data, "embedded")

    def test_data_inside_the_schema_is_found(self) -> None:
        """Small models fill a schema in where it stands."""
        data = {"why": "x", "items": []}
        assert self.read(json.dumps({**self.SCHEMA, "properties": data})) == (data, "whole")

    @pytest.mark.parametrize("data", [{"why": "", "items": []}, {"why": "the advice of Ana"}, {"items": ["ADD"]}])
    def test_data_is_not_taken_for_the_form(self, data: Any) -> None:
        assert self.read(json.dumps(data)) == (data, "whole")

    def test_words_of_the_form_are_left_out_of_data(self) -> None:
        filled = {"why": "the reason", "items": [{"type": "ADD", "text": "pin"}], "n": 1, "of": {"type": "string"}}
        assert Echo.of(self.EXAMPLE).without(filled) == {
            "why": "",
            "items": [{"type": "ADD", "text": "pin"}],
            "n": 1,
            "of": None,
        }


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(exclude_characters="\b\f", exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet="abc_ <>{}[]\"'`,"), inner),
    max_leaves=8,
).filter(lambda value: isinstance(value, (dict, list)))


@given(value=json_values, prose=st.sampled_from(["", "Here it is:\n", '<think>{no} "</think>\n', "As in [1]:\n"]))
def test_a_value_is_read_back(value: Any, prose: str) -> None:
    """Law: what is valid JSON is read as it stands, in a fence or alone, whatever it holds."""
    alone = json.dumps(value)
    assert read_json(alone).value == value
    if not isinstance(value, dict):
        return
    assert read_json(f"{prose}{FENCE}json\n{alone}\n{FENCE}\nThat is all.").value == value


@given(messy_text, st.sampled_from([(), ("answer",), ("a", "operations")]), st.booleans())
def test_no_text_makes_it_raise(text: str, wants: tuple[str, ...], cut: bool) -> None:
    reading = read_json(text, wants=wants, items=("id",), cut=cut)
    assert (reading.value is None) == (reading.how == "unreadable")


@pytest.mark.parametrize("unit", NONSENSE)
def test_long_nonsense_is_read(unit: str) -> None:
    """200 kB of it; a search that takes the square of that would run into the time limit of the tests."""
    text = '{"operations": 1, ' + unit * (200_000 // len(unit))
    reading = read_json(text, wants=("operations",), items=("type",), cut=True)
    assert (reading.value is None) == (reading.how == "unreadable")
