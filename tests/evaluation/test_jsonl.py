"""Lines that survive crashes (cases N03, S06, S07, S14)."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.errors import StoreError, TaskError
from cheatsheet.evaluation.jsonl import Appender, encode, mend, parse

# All characters, halves of surrogate pairs among them; hypothesis leaves those out unless it is asked.
_TEXTS = st.text(st.characters(codec=None, exclude_categories=()))
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXTS
_VALUES = st.recursive(_SCALARS, lambda inner: st.lists(inner) | st.dictionaries(_TEXTS, inner), max_leaves=8)
_OBJECTS = st.dictionaries(_TEXTS, _VALUES, max_size=4)


def _values(data: bytes) -> list[dict[str, Any]]:
    return [record.value for record in parse(data, source="x.jsonl").records]


@settings(max_examples=50)
@given(st.lists(_OBJECTS, max_size=5))
def test_what_is_encoded_is_read_back(objects: list[dict[str, Any]]) -> None:
    lines = parse(b"".join(map(encode, objects)), source="x.jsonl")
    assert [record.value for record in lines.records] == objects
    assert [record.line for record in lines.records] == list(range(1, len(objects) + 1))
    assert lines.torn == b""


@settings(max_examples=50)
@given(st.lists(_OBJECTS, min_size=1, max_size=4), st.data())
def test_a_file_cut_anywhere_loses_only_what_was_cut(objects: list[dict[str, Any]], data: st.DataObject) -> None:
    whole = [encode(value) for value in objects]
    content = b"".join(whole)
    cut = data.draw(st.integers(0, len(content)))
    lines = parse(content[:cut], source="x.jsonl")
    ends = [sum(map(len, whole[: place + 1])) - 1 for place in range(len(whole))]  # without the line feed
    assert [record.value for record in lines.records] == [
        value for value, end in zip(objects, ends, strict=True) if end <= cut
    ]
    assert content[:cut].endswith(lines.torn)


def test_lines_are_utf8_and_end_with_a_line_feed() -> None:
    assert encode({"t": "é—漢"}) == '{"t": "é—漢"}\n'.encode()
    assert encode({"t": "\ud83d"}) == b'{"t": "\\ud83d"}\n'


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_json_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode({"score": value})


def test_a_torn_last_line_is_set_aside_and_nothing_is_glued_to_it(tmp_path: Path) -> None:
    """S06, N03."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"i":1}\n{"i":2,"te')
    assert mend(path).torn == b'{"i":2,"te'
    with Appender(path) as log:
        log.append({"i": 3})
    assert _values(path.read_bytes()) == [{"i": 1}, {"i": 3}]
    assert (tmp_path / "rows.jsonl.torn").read_bytes() == b'{"i":2,"te\n'


def test_a_last_line_without_its_line_feed_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"i":1}')
    assert not mend(path).torn
    with Appender(path) as log:
        log.append({"i": 2})
    assert path.read_bytes() == b'{"i":1}\n{"i": 2}\n'


def test_a_line_torn_inside_a_character(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(encode({"i": 1}) + encode({"t": "漢"})[:-4])
    assert mend(path).torn.startswith(b'{"t"')
    assert path.read_bytes() == encode({"i": 1})


def test_mending_what_is_missing_or_empty_changes_nothing(tmp_path: Path) -> None:
    """N02: an empty file is a fresh start."""
    assert mend(tmp_path / "none.jsonl").records == ()
    (tmp_path / "empty.jsonl").touch()
    assert mend(tmp_path / "empty.jsonl").records == ()
    assert [path.name for path in tmp_path.iterdir()] == ["empty.jsonl"]


_BAD_LINES = {
    "torn": b'{"i":2',
    "list": b"[1]",
    "number": b"7",
    "not a number": b'{"i": NaN}',
    "not UTF-8": b'{"i": "\xff"}',
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("bad", _BAD_LINES.values(), ids=_BAD_LINES.keys())
def test_a_bad_line_in_the_middle_is_an_error_that_names_it(bad: bytes) -> None:
    """N03."""
    with pytest.raises(TaskError, match=r"^x\.jsonl, line 2"):
        parse(b'{"i":1}\n' + bad + b'\n{"i":3}\n', source="x.jsonl")


def test_objects_glued_on_one_line_are_all_read() -> None:
    """S07."""
    lines = parse(b'{"i":1}{"i":2}\n{"i":3}\n', source="x.jsonl")
    assert [(record.line, record.value["i"]) for record in lines.records] == [(1, 1), (1, 2), (2, 3)]


def test_only_a_line_feed_ends_a_line() -> None:
    """S14."""
    text = "a\u2028b\u0085c\x0b"
    assert _values(encode({"t": text})) == [{"t": text}]
    assert _values(json.dumps({"t": "a\u2028b"}, ensure_ascii=False).encode()) == [{"t": "a\u2028b"}]


def test_blank_lines_carriage_returns_and_a_byte_order_mark() -> None:
    assert _values(b'\xef\xbb\xbf{"i":1}\r\n\r\n \t\n{"i":2}\r\n') == [{"i": 1}, {"i": 2}]


def test_what_cannot_be_mended_is_told_and_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"i":1}\n{"i":2,"te')

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match=r"rows\.jsonl: No space left on device\. .* and resume"):
            mend(path)
    assert path.read_bytes() == b'{"i":1}\n{"i":2,"te'
    assert [record.value for record in mend(path).records] == [{"i": 1}]
    with pytest.raises(StoreError, match="Is a directory"):
        mend(tmp_path)
