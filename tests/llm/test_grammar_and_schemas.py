"""What holds an answer to given texts."""

from __future__ import annotations

import doctest
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.llm import failures, grammar
from cheatsheet.llm.grammar import choices_grammar
from cheatsheet.llm.schemas import choices_schema, response_format


def test_the_examples_in_the_docstrings() -> None:
    for module in (grammar, failures):
        assert doctest.testmod(module).attempted > 0
        assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("after", "literal"), [("", '"amber"'), ("Team:", '" amber"'), ("Team: ", '"amber"'), ("Team:\n", '"amber"')]
)
def test_a_continuation_begins_with_a_space_after_a_word(after: str, literal: str) -> None:
    assert choices_grammar(["amber"], after=after) == f"root ::= {literal}"


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=4))
def test_every_choice_is_a_literal_that_reads_back(choices: list[str]) -> None:
    text = choices_grammar(choices)
    assert text.isprintable()
    assert _literals(text.removeprefix("root ::= ")) == choices


def _literals(text: str) -> list[str]:
    """Read `"a" | "b"` as llama.cpp does (its docs: grammars/README.md)."""
    simple = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
    widths = {"x": 2, "u": 4, "U": 8}
    found: list[str] = []
    at = 0
    while at < len(text):
        assert text[at] == '"'
        at, literal = at + 1, ""
        while text[at] != '"':
            if text[at] != "\\":
                literal, at = literal + text[at], at + 1
            elif (mark := text[at + 1]) in widths:
                end = at + 2 + widths[mark]
                literal, at = literal + chr(int(text[at + 2 : end], 16)), end
            else:
                literal, at = literal + simple[mark], at + 2
        found.append(literal)
        at += 1 + len(" | ")
    return found


def test_no_choices_are_no_grammar() -> None:
    with pytest.raises(ValueError, match="at least one"):
        choices_grammar([])


OPEN: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
CLOSED: dict[str, Any] = {**OPEN, "required": ["a"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (choices_schema(["amber"]), True),
        (CLOSED, True),
        (OPEN, False),
        ({**CLOSED, "required": []}, False),
        ({"type": "object", "properties": {"x": OPEN}, "required": ["x"], "additionalProperties": False}, False),
        ({"anyOf": [CLOSED, OPEN]}, False),
    ],
)
def test_a_schema_is_strict_where_it_may_be(schema: dict[str, Any], strict: bool) -> None:
    sent = response_format(schema)
    assert sent["json_schema"]["strict"] is strict
    assert sent["json_schema"]["schema"] == schema
