"""The memory to be read as documents."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from cheatsheet.context.render import bullet_line
from cheatsheet.interfaces.mcp.calls import in_thread
from cheatsheet.interfaces.mcp.desk import Desk
from cheatsheet.memory.bullet import Bullet, section_title

CHEATSHEET: Final = "cheatsheet://cheatsheet"
BULLET: Final = "cheatsheet://bullets/{id}"

MAX_SHEET_CHARS: Final = 1_000_000


def add_resources(server: MCPServer[Any], desk: Desk) -> None:
    """Offer the whole cheatsheet, and single bullets, for reading."""

    def cheatsheet() -> str:
        """All active bullets as one text, under the headings of their sections."""
        return sheet_text(desk.engine.get().memory.bullets())

    def bullet(id: str) -> str:
        """One bullet as JSON, whatever its status: content, counters, where it comes from."""
        found = desk.engine.get().memory.bullet(id)
        if found is None:
            raise ResourceNotFoundError(f"There is no bullet {id!r} in this memory.")
        return found.model_dump_json(indent=2)

    server.resource(CHEATSHEET, title="Cheatsheet", mime_type="text/plain")(in_thread(cheatsheet, ResourceError))
    server.resource(BULLET, title="Bullet", mime_type="application/json")(in_thread(bullet, ResourceError))


def sheet_text(bullets: Iterable[Bullet]) -> str:
    """Bullets under the headings of their sections, with their ids; what does not fit into the limit is told."""
    ordered = sorted(bullets, key=lambda bullet: bullet.section)
    parts: list[str] = []
    chars = 0
    left = len(ordered)
    for section, members in groupby(ordered, key=lambda bullet: bullet.section):
        lines = [f"## {section_title(section)}"]
        for line in map(bullet_line, members):
            chars += len(line)
            if chars > MAX_SHEET_CHARS:
                return "\n\n".join(
                    [*parts, "\n".join(lines), f"({left:,} more; list_bullets gives them page by page.)"]
                )
            lines.append(line)
            left -= 1
        parts.append("\n".join(lines))
    return "\n\n".join(parts) or "The cheatsheet is empty."
