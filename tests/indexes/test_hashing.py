"""What is special to `HashingEmbedder`; its promises as an embedder stand in tests/contracts."""

from __future__ import annotations

import numpy as np
import pytest

from indexes.errors import VectorError
from indexes.hashing import HashingEmbedder


def likeness(one: str, other: str) -> float:
    first, second = HashingEmbedder().embed([one, other])
    return float(first @ second)


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("My card was charged twice", "the card has been charged two times", "Where is my parcel?"),
        ("reset the password", "resetting passwords", "quarterly revenue growth"),
        ("如何重置密码", "密码重置的方法", "包裹在哪里"),
        ("パスワードを変更する", "パスワードの変更", "荷物はどこですか"),
        ("STRASSE", "straße", "avenue"),
        ("!? …", "!?", "::"),
    ],
)
def test_texts_that_share_words_or_pieces_of_words_are_near(text: str, near: str, far: str) -> None:
    assert likeness(text, near) > 0.25 > abs(likeness(text, far))


def test_a_text_has_the_same_row_in_every_process_and_on_every_machine() -> None:
    """Written down once; a change of these numbers needs another `model_id`."""
    assert HashingEmbedder(4).model_id == "hashing-1-4"
    assert HashingEmbedder(4).embed(["Reset 密码 now"])[0].tolist() == pytest.approx(PINNED, abs=1e-6)


PINNED = [0.020297, -0.456763, -0.328935, -0.826292]


def test_spelling_in_capitals_makes_no_difference() -> None:
    rows = HashingEmbedder().embed(["Reset The Password", "reset the password"])
    assert np.array_equal(rows[0], rows[1])


def test_a_dimension_of_0_is_refused() -> None:
    with pytest.raises(VectorError, match="at least 1"):
        HashingEmbedder(0)
