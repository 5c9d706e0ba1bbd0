from __future__ import annotations

from importlib.resources import files
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.roles.prompts import PromptName, clip, data_block, render


@pytest.mark.parametrize(
    "text",
    [
        'Reply {"answer": "..."}',  # B12: str.format takes it for a field
        "print(f'{len(xs)}') fails on {None}",  # B13: so does a second formatting
        r"use \1 and \g<0> in re.sub",  # B15: a replacement string takes it for a group
        "[[EARLIER]] and [[QUESTION]]",  # a placeholder in a value is text
    ],
)
def test_values_reach_the_prompt_as_they_are(text: str) -> None:
    """B12, B13, B15"""
    assert text in render("earlier", earlier=text)
    assert render("earlier", earlier=text).count(text) == 1


@given(st.text())
def test_only_the_placeholder_is_replaced(text: str) -> None:
    """Law: the prompt is the template around the value."""
    before, after = render("earlier", earlier="\0").split("\0")
    assert render("earlier", earlier=text) == before + text + after


def test_the_templates_keep_their_json() -> None:
    """B12: the examples in our own prompts hold braces and quotes."""
    prompt = render("reflector", question="q", beside="r", answer="a", feedback="f", notes="n")
    assert '"bullet_tags": [{"id": "an id from above", "tag": "helpful | harmful | neutral"}]' in prompt


@pytest.mark.parametrize("values", [{}, {"earlier": "n", "question": "q"}, {"early": "n"}])
def test_missing_and_needless_values_are_errors(values: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"placeholders \['EARLIER'\]"):
        render("earlier", **values)


def test_the_prompts_are_part_of_the_package() -> None:
    names = {file.name for file in files("cheatsheet.roles.prompts").iterdir() if file.name.endswith(".md")}
    assert names == {f"{name}.md" for name in get_args(PromptName)}


@given(st.text() | st.sampled_from(["</notes>", "</NOTES >", "< /notes>", "</notes></notes-2>", "<notes>"]))
def test_no_text_ends_its_own_block(text: str) -> None:
    block = data_block("notes", text)
    opening, closing = block.split("\n")[0], block.rsplit("\n", 1)[1]
    assert block == f"{opening}\n{text}\n{closing}"
    assert closing == opening.replace("<", "</")
    assert closing not in "".join(text.split()).casefold()


def test_long_texts_are_clipped_in_the_middle() -> None:
    assert clip("short", 10) == "short"
    assert clip("a" * 10 + "b" * 10, 6) == "aaa\n[… 14 characters left out …]\nbbb"
