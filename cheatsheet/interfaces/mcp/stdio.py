"""One peer on standard input and output.

The SDK's own transport reads lines of any length, and in a thread that keeps the process from ending while it waits
(modelcontextprotocol/python-sdk#932, #3551). Here lines are limited, the thread that reads is a daemon that holds no
lock, what was asked before the peer left is still answered, and a line that is no message is told so.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError
from typing import Any, Final

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import MCPServer
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, JSONRPCMessage

from cheatsheet.interfaces.mcp.lines import MAX_LINE_BYTES, LineBuffer
from cheatsheet.interfaces.mcp.messages import Unanswered, UnreadableLineError, error_reply, read_message, write_message
from cheatsheet.interfaces.mcp.wire import Wire

# How long calls may go on after the peer has closed its side.
FINISH_S: Final = 60.0

_CHUNK_BYTES = 64 * 1024


async def serve_stdio(
    server: MCPServer[Any], wire: Wire, *, max_line_bytes: int = MAX_LINE_BYTES, finish_s: float = FINISH_S
) -> str:
    """Serve one peer until it leaves.

    Args:
        max_line_bytes: the connection is closed at a longer line; the messages before it are answered.
        finish_s: for calls that are under way when the peer leaves.

    Returns:
        Why the connection was closed on our side; empty when the peer left.
    """
    # The public methods of MCPServer take no streams; the SDK's own transports go the same way.
    lowlevel = server._lowlevel_server
    incoming, to_serve = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outgoing, to_write = anyio.create_memory_object_stream[SessionMessage]()
    with incoming, to_serve, outgoing, to_write:
        connection = _Connection(wire, LineBuffer(max_line_bytes), incoming, outgoing.clone(), finish_s)
        with connection.outgoing:
            async with anyio.create_task_group() as group:
                connection.read(anyio.lowlevel.current_token())
                group.start_soon(lowlevel.run, to_serve, outgoing, lowlevel.create_initialization_options())
                with to_write:  # closed before the server is waited for, so that it does not wait to be heard
                    await connection.write_all(to_write)
                group.cancel_scope.cancel()
    return connection.why_closed


class _Connection:
    """The way between a wire and the streams of a server.

    Attributes:
        outgoing: what is said outside the server's own answers.
    """

    def __init__(
        self,
        wire: Wire,
        lines: LineBuffer,
        incoming: MemoryObjectSendStream[SessionMessage | Exception],
        outgoing: MemoryObjectSendStream[SessionMessage],
        finish_s: float,
    ) -> None:
        self.outgoing = outgoing
        self.why_closed = ""
        self._wire = wire
        self._lines = lines
        self._incoming = incoming
        self._finish_s = finish_s
        self._unanswered = Unanswered()
        self._answered = anyio.Event()

    # In

    def read(self, token: anyio.lowlevel.EventLoopToken) -> None:
        """Begin to read, in a thread that never keeps the process from ending."""
        threading.Thread(target=self._read_all, args=(token,), name="mcp-stdin", daemon=True).start()

    def _read_all(self, token: anyio.lowlevel.EventLoopToken) -> None:
        try:
            while not self._lines.overflowed and (chunk := self._chunk()):
                anyio.from_thread.run(self._take, list(self._lines.feed(chunk)), token=token)
            anyio.from_thread.run(self._end, token=token)
        except (anyio.RunFinishedError, anyio.BrokenResourceError, anyio.ClosedResourceError, CancelledError):
            return  # the server ended first

    def _chunk(self) -> bytes:
        try:
            return os.read(self._wire.read_fd, _CHUNK_BYTES)
        except OSError:  # a terminal that was hung up, a peer that reset its socket
            return b""

    async def _take(self, lines: Sequence[bytes]) -> None:
        for line in lines:
            if line.strip():
                await self._take_line(line)

    async def _take_line(self, line: bytes) -> None:
        try:
            message = read_message(line)
        except UnreadableLineError as error:
            await self._say(error.reply)
            return
        self._unanswered.received(message)
        await self._incoming.send(SessionMessage(message))

    async def _end(self) -> None:
        await self._take([self._lines.end()])
        with anyio.move_on_after(self._finish_s):
            while self._unanswered:
                self._answered = anyio.Event()
                await self._answered.wait()
        if self._lines.overflowed:
            limit = f"{self._lines.max_bytes:,} bytes"
            self.why_closed = f"The peer sent a line of more than {limit}; the connection is closed."
            told = f"A line has more than {limit}, which is the limit for one message. The connection is closed."
            await self._say(error_reply(None, INVALID_REQUEST, told))
        self._incoming.close()
        self.outgoing.close()

    # Out

    async def write_all(self, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write messages until there are no more, or until the peer does not read any more."""
        async for message in messages:
            line = write_message(message.message)
            try:
                await anyio.to_thread.run_sync(_write, self._wire.write_fd, line, abandon_on_cancel=True)
            except OSError:
                return
            self._unanswered.sent(message.message)
            if not self._unanswered:
                self._answered.set()

    async def _say(self, message: JSONRPCMessage) -> None:
        await self.outgoing.send(SessionMessage(message))


def _write(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
