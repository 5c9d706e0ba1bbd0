from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.sandbox.blocks import find_blocks, programs

pieces = st.sampled_from(
    ["```", "~~~", "````", "```python", "\n", " ", "    ", "EXECUTE CODE!", "**EXECUTE CODE!**", "print(1)", "x", "你"]
)
messy = st.lists(pieces, max_size=30).map("".join)


def codes(text: str, *, unmarked: bool = True) -> list[str]:
    return [block.code for block in programs(text, unmarked=unmarked)]


def test_fences_count_only_at_the_start_of_a_line() -> None:
    """X07: a fence inside a string is part of the program, and a second block is a block of its own."""
    first = "```python\ns = '```x```'\nprint(len(s))\n```"
    assert codes(first) == ["s = '```x```'\nprint(len(s))\n"]
    assert codes(f"So:\n{first}\nand\n```python\nprint(2)\n```\n") == ["s = '```x```'\nprint(len(s))\n", "print(2)\n"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\ns = '''\n    ```\n'''\n```", "s = '''\n    ```\n'''\n"),  # indented further than the block
        ("````python\ns = '''\n```\n'''\n````", "s = '''\n```\n'''\n"),  # shorter
        ("```python\ns = '''\n~~~\n'''\n```", "s = '''\n~~~\n'''\n"),  # of another kind
        ("```python\n```x = 1\n```", "```x = 1\n"),  # not alone on its line
        ("1. So:\n   ```python\n   if x:\n       y()\n   ```", "if x:\n    y()\n"),  # in a list
        ("```python\n```", ""),
        ("```py\r\nx\r\n```\r\n", "x\r\n"),
        ("~~~Python title=a\nx\n~~~", "x\n"),
    ],
)
def test_where_a_block_ends(text: str, code: str) -> None:
    assert codes(text) == [code]


@pytest.mark.parametrize(
    "after",
    [
        "\nEXECUTE CODE!",
        "EXECUTE CODE!",
        " EXECUTE CODE!\n",
        "\n\n**EXECUTE CODE!**",
        "\n  EXECUTE CODE",
        "\r\nEXECUTE CODE!",
    ],
)
@pytest.mark.parametrize("fence", ["```python", "```"])
def test_marked_programs(after: str, fence: str) -> None:
    text = f"Let us see.\n{fence}\nprint(1)\n```{after}"
    (block,) = programs(text)
    assert block.code == "print(1)\n"
    assert text[: block.end].rstrip("!*\n").endswith("EXECUTE CODE")


@pytest.mark.parametrize(
    "text",
    [
        "```python\nprint(1)\n```",  # no marker
        "```python\nprint(1)\n```\nNow EXECUTE CODE!",  # something between
        "```bash\nls\n```\nEXECUTE CODE!",  # another language
        "```python\nprint(1)\nEXECUTE CODE!",  # never closed: the reply was cut
        "print(1)\nEXECUTE CODE!",
        "```python\n# EXECUTE CODE!\n```",
    ],
)
def test_nothing_is_marked(text: str) -> None:
    assert programs(text) == ()


def test_without_markers_only_what_says_python_is_a_program() -> None:
    assert codes("```\nx\n```\n```json\n{}\n```\n```python\ny\n```") == ["y\n"]


@given(messy)
def test_any_text_has_blocks_that_stand_in_it(text: str) -> None:
    """Never raises; blocks follow each other, and each line of a block is in the text."""
    ends = [0]
    for block in find_blocks(text):
        assert ends[-1] < block.end <= len(text)
        part = text[ends[-1] : block.end]
        assert all(line.strip() in part for line in block.code.splitlines())
        ends.append(block.end)


@given(
    st.text(
        alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
    )
)
def test_a_long_fence_holds_every_program(code: str) -> None:
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    (block,) = find_blocks(f"{fence}python\n{code}\n{fence}\nEXECUTE CODE!")
    assert block.code == f"{code}\n"
    assert block.marked
