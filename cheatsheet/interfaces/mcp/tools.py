"""The tools that agents see: names, titles and hints, and how a method becomes a tool."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import ConfigDict, ValidationError

from cheatsheet.interfaces.mcp.bullet_tools import BulletTools
from cheatsheet.interfaces.mcp.calls import in_thread
from cheatsheet.interfaces.mcp.desk import Desk
from cheatsheet.interfaces.mcp.file_tools import FileTools
from cheatsheet.interfaces.mcp.turn_tools import TurnTools

# What a tool does to the memory. The world of a memory is closed.
READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS: Final = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
CHANGES: Final = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)


class StrictTool(Tool):
    """A tool that refuses arguments that it does not have, and says in a sentence what is wrong with those given."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(self._told(error.__cause__)) from error.__cause__
            raise

    def _told(self, error: ValidationError) -> str:
        wrong = "; ".join(
            f"{'.'.join(map(str, item['loc']))}: {item['msg']}"
            for item in error.errors(include_url=False, include_input=False, include_context=False)
        )
        takes = ", ".join(self.parameters.get("properties", {})) or "no arguments"
        return f"The arguments of {self.name} are not valid. {wrong}. It takes: {takes}."


def make_tools(desk: Desk) -> Iterator[Tool]:
    """All tools, in the order in which an agent meets them."""
    turns, bullets, files = TurnTools(desk), BulletTools(desk), FileTools(desk)
    yield _tool(turns.get_context, "Get the context to start from", READS, structured=False)
    yield _tool(turns.recall, "Recall what bears on a question", READS)
    yield _tool(turns.learn, "Learn from an answer", ADDS)
    yield _tool(turns.feedback, "Add a verdict that came later", ADDS)
    yield _tool(bullets.add_bullet, "Add a piece of advice", ADDS)
    yield _tool(bullets.search_bullets, "Search the advice", READS)
    yield _tool(bullets.list_bullets, "List the advice", READS)
    yield _tool(bullets.update_bullet, "Change a piece of advice", CHANGES)
    yield _tool(bullets.remove_bullet, "Archive a piece of advice", CHANGES)
    yield _tool(files.log, "Write into today's log", ADDS, structured=False)
    yield _tool(files.import_playbook, "Import a playbook", ADDS)
    yield _tool(files.export_playbook, "Export a playbook", READS)
    yield _tool(files.stats, "Tell the size of the memory", READS)


def _tool(method: Callable[..., Any], title: str, hints: ToolAnnotations, *, structured: bool = True) -> Tool:
    """A method as a tool; its docstring is what the agent reads."""
    tool = StrictTool.from_function(
        in_thread(method, ToolError),
        title=title,
        description=inspect.cleandoc(method.__doc__ or ""),
        annotations=hints,
        structured_output=structured,
    )
    return _strict(tool)


def _strict(tool: Tool) -> Tool:
    """The tool, refusing arguments that it does not have: one that is misspelt must not be ignored."""
    loose = tool.fn_metadata.arg_model
    strict: Any = type(loose.__name__, (loose,), {"model_config": ConfigDict(extra="forbid"), "__module__": __name__})
    metadata = tool.fn_metadata.model_copy(update={"arg_model": strict})
    parameters = strict.model_json_schema(by_alias=True)
    return tool.model_copy(update={"fn_metadata": metadata, "parameters": parameters})
