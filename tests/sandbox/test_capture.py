from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.sandbox.capture import Capture


def captured(chunks: list[bytes], limit: int) -> Capture:
    capture = Capture(limit)
    for chunk in chunks:
        capture.feed(chunk)
    return capture


def test_a_character_split_over_two_reads() -> None:
    """X08"""
    text = "ok 你 🌍"
    assert captured([bytes([byte]) for byte in text.encode()], 100).text() == text


def test_bytes_that_are_no_text() -> None:
    """X08"""
    assert captured([b"ok \xff\xfe ", "你".encode()], 100).text() == "ok \ufffd\ufffd 你"


def test_beginning_and_end_are_kept() -> None:
    """X03: a traceback stands at the end."""
    capture = captured([b"begin ", b"x" * 1000, b" ValueError: b"], 40)
    assert capture.truncated
    assert capture.text() == f"begin {'x' * 14}\n[… 980 bytes left out …]\n{'x' * 6} ValueError: b"


@given(st.lists(st.binary(max_size=20)), st.integers(1, 40))
def test_chunks_make_no_difference(chunks: list[bytes], limit: int) -> None:
    whole = b"".join(chunks)
    capture = captured(chunks, limit)
    assert capture.text() == captured([whole], limit).text()
    assert capture.truncated == (len(whole) > limit)
    if not capture.truncated:
        assert capture.text() == whole.decode("utf-8", "replace")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1), st.integers(1, 40))
def test_no_character_is_cut_in_two(text: str, limit: int) -> None:
    capture = captured([text.encode()], limit)
    if capture.truncated:
        beginning, _, rest = capture.text().partition("\n[… ")
        assert text.startswith(beginning)
        assert text.endswith(rest.partition(" …]\n")[2])
        assert len(beginning.encode()) <= limit
