"""Lines become messages, and messages lines."""

from __future__ import annotations

from typing import Any

from mcp.types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json

# Requests that stay open until the peer leaves; nobody waits for their answer.
_OPEN_ENDED = frozenset({"subscriptions/listen"})


class UnreadableLineError(ValueError):
    """A line that is no message; `reply` tells its sender so."""

    def __init__(self, reply: JSONRPCError) -> None:
        super().__init__(reply.error.message)
        self.reply = reply


def read_message(line: bytes) -> JSONRPCMessage:
    """The message in a line.

    Raises:
        UnreadableLineError: there is none.
    """
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        if error.errors(include_url=False, include_input=False)[0]["type"] != "json_invalid":
            raise _no_message(line) from error
        reply = error_reply(None, PARSE_ERROR, "The line is not JSON. Send one message a line.")
        raise UnreadableLineError(reply) from error
    if isinstance(message, JSONRPCNotification) and b'"id"' in line and "id" in from_json(line):
        raise _no_message(line)  # a request whose id is none, which would wait for its answer for ever
    return message


def write_message(message: JSONRPCMessage) -> bytes:
    """The line of a message, with its end."""
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except PydanticSerializationError as error:  # such as half of a surrogate pair
        if not isinstance(message, JSONRPCResponse):
            raise
        told = f"The answer cannot be written as JSON: {error}"
        text = error_reply(message.id, INTERNAL_ERROR, told).model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode() + b"\n"


def error_reply(id: RequestId | None, code: int, text: str) -> JSONRPCError:
    """An error as an answer; without an id where it is unknown what it answers."""
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=code, message=text))


class Unanswered:
    """The ids of requests that have no answer yet."""

    def __init__(self) -> None:
        self._ids: set[RequestId] = set()

    def __bool__(self) -> bool:
        return bool(self._ids)

    def received(self, message: JSONRPCMessage) -> None:
        """Note what the peer sent; one that is cancelled is never answered."""
        if isinstance(message, JSONRPCRequest) and message.method not in _OPEN_ENDED:
            self._ids.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            cancelled = _id_in({"id": (message.params or {}).get("requestId")})
            if cancelled is not None:
                self._ids.discard(cancelled)

    def sent(self, message: JSONRPCMessage) -> None:
        """Note what was written to the peer."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._ids.discard(message.id)


def _no_message(line: bytes) -> UnreadableLineError:
    told = "The line is JSON, but no message: a request has jsonrpc 2.0, an id and a method; batches are not taken."
    return UnreadableLineError(error_reply(_id_in(from_json(line)), INVALID_REQUEST, told))


def _id_in(value: Any) -> RequestId | None:
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None
