"""Bytes to lines, lines to messages."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from cheatsheet.interfaces.mcp.lines import LineBuffer
from cheatsheet.interfaces.mcp.messages import Unanswered, UnreadableLineError, error_reply, read_message, write_message

CHUNKS = st.lists(st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\xff"]), max_size=9).map(b"".join), max_size=9)


@given(CHUNKS)
def test_lines_do_not_depend_on_how_the_bytes_come(chunks: Sequence[bytes]) -> None:
    lines = LineBuffer()
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    assert [*found, lines.end()] == b"".join(chunks).split(b"\n")
    assert not lines.overflowed


@given(CHUNKS, st.integers(0, 6))
def test_lines_before_one_that_is_too_long_come_and_nothing_after(chunks: Sequence[bytes], limit: int) -> None:
    lines = LineBuffer(limit)
    found: list[bytes] = []
    for chunk in chunks:
        found += lines.feed(chunk)
        if lines.overflowed:
            break
    whole = b"".join(chunks).split(b"\n")
    too_long = [number for number, line in enumerate(whole) if len(line) > limit]
    assert lines.overflowed == bool(too_long)
    assert found == whole[: too_long[0] if too_long else -1]
    assert lines.end() == (b"" if too_long else whole[-1])


@pytest.mark.parametrize(
    ("line", "code", "id"),
    [
        (b"hello", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"', -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}', -32700, None),
        (b"[" * 10_000, -32700, None),
        (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":"a","method":3}', -32600, "a"),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":8,"method":"ping","params":[1]}', -32600, 8),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b"42", -32600, None),
    ],
)
def test_a_line_that_is_no_message_is_answered(line: bytes, code: int, id: str | int | None) -> None:
    with pytest.raises(UnreadableLineError) as caught:
        read_message(line)
    reply = json.loads(write_message(caught.value.reply))
    assert (reply["error"]["code"], reply["id"], reply["jsonrpc"]) == (code, id, "2.0")


def test_messages_survive_writing_and_reading() -> None:
    request = JSONRPCRequest(jsonrpc="2.0", id="ä", method="ping", params={"text": "a\nb \U0001f600"})
    line = write_message(request)
    assert line.count(b"\n") == 1
    assert read_message(line) == request


def test_an_answer_that_is_no_json_becomes_an_error() -> None:
    answer = JSONRPCResponse(jsonrpc="2.0", id=5, result={"text": "half a character: \ud800"})
    written = json.loads(write_message(answer))
    assert (written["id"], written["error"]["code"]) == (5, -32603)


def test_what_is_unanswered() -> None:
    unanswered = Unanswered()
    for id in (1, "1", 2, 3):
        unanswered.received(JSONRPCRequest(jsonrpc="2.0", id=id, method="tools/call"))
    unanswered.received(JSONRPCRequest(jsonrpc="2.0", id=4, method="subscriptions/listen"))
    unanswered.sent(JSONRPCResponse(jsonrpc="2.0", id=1, result={}))
    unanswered.sent(error_reply(2, -32603, "no"))
    unanswered.sent(error_reply(None, -32700, "no"))
    unanswered.received(JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 3}))
    unanswered.received(JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled"))
    assert unanswered
    unanswered.sent(JSONRPCResponse(jsonrpc="2.0", id="1", result={}))
    assert not unanswered
