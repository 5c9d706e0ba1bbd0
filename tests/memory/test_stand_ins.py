"""Words that stand in the place of others, and words that only look like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.memory.gate.stand_ins import is_ellipsis, own_words, stand_ins, without_stand_ins

# From the published runs of Dynamic Cheatsheet, and their like.
IN_PLACE_OF_OTHERS = """
[Previous content preserved...]
[Previous content preserved as is]
[Previous sections remain unchanged]
[Previous memory items retained...]
[Previous content preserved with addition:]
[Previous memory items about Circle Properties, 3D Analysis, and List Properties remain unchanged...]
[Rest of previous content preserved]
[Previous content for other sections preserved as is]
[Previous sections remain unchanged up to COMPLEX NUMBERS & ROOTS OF UNITY]
[Previous content preserved and merged with new insights from Q94]
[Previous meta-reasoning strategies preserved...]
(all previous items retained)
Same as before
(same as above)
(unchanged)
… (unchanged) …
... rest unchanged ...
The rest of the cheatsheet remains unchanged.
Rest of the cheatsheet remains
Everything else stays the same.
All other sections remain the same.
Existing content remains unchanged
**Previous content preserved**
- See above
[No changes to this section]
[Keep all previous items]
[Other items omitted]
Content omitted for brevity
[... existing items ...]
// ... existing code ...
[rest of cheatsheet]
""".strip().splitlines()

ADVICE = """
Use the same units as before.
All other variables remain unchanged.
Keep the original list unchanged.
Make a copy (keep the original list intact)
If nothing changes, say no change.
See above the table for the units.
Check the previous items before you add one.
- Reflection preserves angles and distances
4. Verify that scaled arrangements preserve geometric properties
The sum of the remaining items is the same in both lists.
# ... more mappings ...
Let x = 0.abcdabcd...
values = [first, *rest]
print(solutions[0])  # the previous solution stays in the list
[cos θ  -sin θ]
Column calculation needs to account for previous rows
The remaining items...
""".strip().splitlines()


@pytest.mark.parametrize("line", IN_PLACE_OF_OTHERS)
def test_words_in_the_place_of_others_are_found(line: str) -> None:
    text = f"Title of it\n{line}\nlast line"
    assert "".join(stand_ins(text)).strip("*- ") == line.strip("*- ")
    assert without_stand_ins(text) == "Title of it\nlast line"
    assert own_words(line) == ""


@pytest.mark.parametrize("line", ADVICE)
def test_advice_is_left_alone(line: str) -> None:
    assert stand_ins(line) == ()
    assert without_stand_ins(line) == line
    assert own_words(line) is None


def test_a_piece_of_a_line_is_cut_out() -> None:
    assert without_stand_ins("Check units. [Previous content preserved] Always.") == "Check units.  Always."


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Digit Manipulation\n[Previous content preserved...]\n\nExample:\n[Previous content preserved...]", ""),
        ("Digit Manipulation\n[Previous content preserved...]", ""),
        ("[Previous content preserved with addition:]\n17. For sets, list all sizes.", "17. For sets, list all sizes."),
        ("...\n\n[…]", ""),
        ("See [previous content kept] above", ""),
    ],
)
def test_a_title_alone_is_no_advice(text: str, own: str | None) -> None:
    assert own_words(text) == own


@pytest.mark.parametrize(("line", "is_one"), [("...", True), ("- […]", True), ("    ...", True), ("# ...", False)])
def test_dots_that_fill_a_line(line: str, is_one: bool) -> None:
    assert is_ellipsis(line) is is_one
    assert stand_ins(line) == ()


@given(st.text() | st.lists(st.sampled_from([*IN_PLACE_OF_OTHERS, *ADVICE, "\n", "[", "]"])).map("".join))
def test_what_is_cut_out_was_found(text: str) -> None:
    rest = without_stand_ins(text)
    if not stand_ins(text) and not any(map(is_ellipsis, text.split("\n"))):
        assert rest == text
    assert len(rest) + sum(map(len, stand_ins(text))) <= len(text)
    own = own_words(text)
    assert own is None or stand_ins(own) == ()


@pytest.mark.parametrize("piece", ["[previous ", "previous item ", "the rest of a ", "... ", "[", "a ", ".", "\n"])
def test_searching_takes_no_square_of_the_length(piece: str) -> None:
    own_words(piece * (200_000 // len(piece)))
