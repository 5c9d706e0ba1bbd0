"""Many peers over streamable HTTP."""

from __future__ import annotations

import socket
from typing import Any, Final

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from cheatsheet.errors import SetupError
from cheatsheet.interfaces.mcp.lines import MAX_LINE_BYTES

PATH: Final = "/mcp"
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")

_ANY_HOST = ("", "0.0.0.0", "::")


def http_app(server: MCPServer[Any], host: str) -> Starlette:
    """The server as an ASGI application at `/mcp`; requests for another host than it serves are refused.

    A web page cannot reach it by a name of its own that it points to this machine (DNS rebinding).

    Args:
        host: the name or address at which it is reached.
    """
    return server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_LINE_BYTES,
        transport_security=security_for(host),
        host=host,
    )


def security_for(host: str) -> TransportSecuritySettings:
    """Which hosts and origins a request may name: loopback, and the host that is served."""
    served = [socket.gethostname()] if host in _ANY_HOST else [host]
    names = [_bracketed(name) for name in dict.fromkeys([*LOOPBACK, *served])]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[pattern for name in names for pattern in (name, f"{name}:*")],
        allowed_origins=[f"http://{name}{port}" for name in names for port in ("", ":*")],
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        SetupError: the address does not exist or is in use.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        why = (error.strerror or str(error)).partition(" (while ")[0]  # the socket module adds what was asked of it
        raise SetupError(
            f"Cannot listen at {host}, port {port}: {why}. Choose another --port, or a --host of this machine."
        ) from error


def address(listening: socket.socket) -> str:
    """The URL that a client is given."""
    host, port = listening.getsockname()[:2]
    return f"http://{_bracketed(host)}:{port}{PATH}"


async def serve_http(server: MCPServer[Any], listening: socket.socket, host: str) -> str:
    """Serve until the process is told to stop; it never closes a connection for a reason of its own."""
    import uvicorn

    config = uvicorn.Config(
        http_app(server, host),
        log_config=None,  # its own would write to standard output
        timeout_graceful_shutdown=1,  # an open stream of events never ends by itself
    )
    await uvicorn.Server(config).serve(sockets=[listening])
    return ""


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
