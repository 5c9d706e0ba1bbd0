"""The transport over pipes, in this process."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import anyio
import anyio.to_thread
import pytest

from cheatsheet.interfaces.mcp.stdio import serve_stdio
from cheatsheet.interfaces.mcp.wire import Wire
from tests.interfaces.mcp.conftest import House

pytestmark = pytest.mark.anyio

HELLO: dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "tests", "version": "0"},
}


def request(id: int | str, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"


def call(id: int, name: str, **arguments: Any) -> bytes:
    return request(id, "tools/call", name=name, arguments=arguments)


OPENING = request(0, "initialize", **HELLO) + b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


class Pipes:
    """A peer's ends of two pipes."""

    def __init__(self) -> None:
        read_fd, self.to_server = os.pipe()
        self.from_server, write_fd = os.pipe()
        self.wire = Wire(read_fd, write_fd)
        self._open = {read_fd, write_fd, self.to_server, self.from_server}

    def close(self, *fds: int) -> None:
        for fd in fds or tuple(self._open):
            if fd in self._open:
                self._open.remove(fd)
                os.close(fd)

    def say(self, data: bytes) -> None:
        """Write in a thread, since a pipe holds little, and close."""

        def write() -> None:
            with suppress(BrokenPipeError), os.fdopen(os.dup(self.to_server), "wb", buffering=0) as pipe:
                self.close(self.to_server)
                rest = memoryview(data)
                while rest:
                    rest = rest[pipe.write(rest) :]

        threading.Thread(target=write, daemon=True).start()

    def heard(self) -> list[dict[str, Any]]:
        """All that the server wrote, each line a message."""
        self.close(self.wire.write_fd)
        with os.fdopen(os.dup(self.from_server), "rb") as file:
            lines = file.read().splitlines()
        messages = [json.loads(line) for line in lines]
        assert all(message["jsonrpc"] == "2.0" for message in messages)
        return messages


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    made = Pipes()
    yield made
    made.close()


def ids(messages: Iterable[dict[str, Any]]) -> list[int | str | None]:
    return [message["id"] for message in messages]


async def test_a_session_to_the_end(house: House, pipes: Pipes) -> None:
    pipes.say(OPENING + b"\n  \n" + request(1, "tools/list") + b"not json\n" + request("2", "ping"))
    assert await serve_stdio(house.server, pipes.wire) == ""
    heard = pipes.heard()
    assert set(ids(heard)) == {0, 1, None, "2"}
    assert [message["error"]["code"] for message in heard if "error" in message] == [-32700]


async def test_a_last_line_without_its_end_counts(house: House, pipes: Pipes) -> None:
    pipes.say(OPENING + request(1, "ping").rstrip())
    assert await serve_stdio(house.server, pipes.wire) == ""
    assert ids(pipes.heard()) == [0, 1]


async def test_a_peer_that_never_ends_its_line(house: House, pipes: Pipes) -> None:  # M03
    endless = b'{"jsonrpc":"2.0","id":3,"method":"' + b"x" * (9 * 1024 * 1024)
    pipes.say(OPENING + request(1, "ping") + call(2, "add_bullet", content="It was delivered.") + endless)
    why = await serve_stdio(house.server, pipes.wire)
    assert why == "The peer sent a line of more than 8,388,608 bytes; the connection is closed."
    heard = pipes.heard()
    assert ids(heard)[-1] is None
    assert heard[-1]["error"]["code"] == -32600
    assert {1, 2} <= set(ids(heard))
    assert house.memory.stats().bullets == 1


async def test_what_comes_after_a_line_that_is_too_long_is_not_read(house: House, pipes: Pipes) -> None:  # M03
    pipes.say(OPENING + b"x" * 2_000 + b"\n" + call(1, "add_bullet", content="It must not be read."))
    assert await serve_stdio(house.server, pipes.wire, max_line_bytes=1_000)
    assert ids(pipes.heard()) == [0, None]
    assert house.memory.stats().bullets == 0


async def test_a_call_that_is_under_way_when_the_peer_leaves_is_answered(house: House, pipes: Pipes) -> None:
    house.gate.clear()
    pipes.say(OPENING + call(1, "get_context", query="q"))
    async with anyio.create_task_group() as group:
        group.start_soon(serve_stdio, house.server, pipes.wire)
        await anyio.to_thread.run_sync(house.waiting.wait, 60)
        house.gate.set()
    assert ids(pipes.heard()) == [0, 1]


async def test_a_call_that_does_not_end_is_left_when_its_time_is_over(house: House, pipes: Pipes) -> None:
    house.gate.clear()
    pipes.say(OPENING + call(1, "get_context", query="q"))
    assert await serve_stdio(house.server, pipes.wire, finish_s=0.0) == ""
    house.gate.set()
    assert 0 in ids(pipes.heard())


async def test_a_peer_that_does_not_read_any_more(house: House, pipes: Pipes) -> None:
    pipes.close(pipes.from_server)
    os.write(pipes.to_server, OPENING)
    assert await serve_stdio(house.server, pipes.wire) == ""


async def test_many_messages_at_once(house: House, pipes: Pipes) -> None:
    pipes.say(OPENING + b"".join(request(n, "ping") for n in range(1, 301)))
    assert await serve_stdio(house.server, pipes.wire) == ""
    assert sorted(map(int, filter(None, map(str, ids(pipes.heard()))))) == list(range(301))
