"""Texts that PostgreSQL refuses are kept all the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.memory.postgres.texts import held, told

texts = st.text(st.sampled_from("\x00\x01\x02\x03ab")) | st.text(st.characters(codec="utf-8"))


@given(text=texts)
def test_every_text_comes_back_as_it_was(text: str) -> None:
    assert "\x00" not in held(text)
    assert told(held(text)) == text


@given(one=texts, two=texts)
def test_texts_stay_different_and_in_their_order(one: str, two: str) -> None:
    assert (held(one) < held(two)) == (one < two)
    assert (held(one) == held(two)) == (one == two)


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\x00\x01")))
def test_an_ordinary_text_is_held_as_it_is(text: str) -> None:
    assert held(text) == text
