"""Streamable HTTP, as an ASGI application without a network."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import LATEST_PROTOCOL_VERSION

from cheatsheet.interfaces.mcp.http import http_app, security_for
from tests.interfaces.mcp.conftest import House, ok, refused

pytestmark = pytest.mark.anyio

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
HEADERS = {"accept": "application/json, text/event-stream"}


@asynccontextmanager
async def connected(house: House, host: str = "127.0.0.1") -> AsyncIterator[httpx2.AsyncClient]:
    app: Any = http_app(house.server, host)
    transport = httpx2.ASGITransport(app=app)
    async with (
        house.server.session_manager.run(),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as http,
    ):
        yield http


async def test_a_session_over_http(house: House) -> None:
    async with connected(house) as http:
        streams = streamable_http_client("http://127.0.0.1:8765/mcp", http_client=http)
        async with Client(streams, mode=LATEST_PROTOCOL_VERSION) as client:
            assert len((await client.list_tools()).tools) == 13
            turn_id = (await ok(client, "recall", question="Which team?"))["turn_id"]
            await ok(client, "learn", turn_id=turn_id, answer="amber", correct=True)
            assert "no turn" in await refused(client, "learn", turn_id="t-9", answer="amber")
    assert house.memory.stats().experiences == 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:8765"}, 200),
        ({"origin": "http://localhost:3000"}, 200),
        ({"host": "evil.example:8765"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://127.0.0.1.evil.example"}, 403),
        ({"origin": "null"}, 403),
    ],
)
async def test_requests_for_another_host_are_refused(house: House, headers: dict[str, str], status: int) -> None:
    initialize = PING | {
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "tests", "version": "0"},
        },
    }
    async with connected(house) as http:
        answer = await http.post("/mcp", json=initialize, headers=HEADERS | headers)
    assert answer.status_code == status


async def test_a_body_without_end_is_refused(house: House) -> None:  # M03, over HTTP
    async with connected(house) as http:
        answer = await http.post("/mcp", content=b"x" * (9 * 1024 * 1024), headers=HEADERS)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("host", "allowed", "refused"),
    [
        ("127.0.0.1", "127.0.0.1:*", "0.0.0.0:*"),
        ("192.168.1.5", "192.168.1.5:*", "192.168.1.6:*"),
        ("::1", "[::1]:*", "::1:*"),
        ("0.0.0.0", "localhost", "0.0.0.0"),
    ],
)
def test_which_hosts_are_served(host: str, allowed: str, refused: str) -> None:
    security = security_for(host)
    assert security.enable_dns_rebinding_protection
    assert allowed in security.allowed_hosts
    assert refused not in security.allowed_hosts
    assert all(origin.startswith("http://") for origin in security.allowed_origins)
