"""Resources and prompts."""

from __future__ import annotations

import json

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent, TextResourceContents

from cheatsheet.interfaces.mcp import resources
from cheatsheet.memory.operations import Add, Draft
from tests.interfaces.mcp.conftest import House
from tests.interfaces.mcp.test_tools import TOOLS

pytestmark = pytest.mark.anyio


async def read(house: House, uri: str) -> str:
    async with house.client() as client:
        (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


async def test_the_cheatsheet_as_a_document(house: House) -> None:
    assert await read(house, "cheatsheet://cheatsheet") == "The cheatsheet is empty."
    drafts = [("b_rules", "second\n## NOT A HEADING"), ("a_rules", "first"), ("b_rules", "third")]
    house.memory.apply([Add(draft=Draft(section=section, content=content)) for section, content in drafts])
    assert await read(house, "cheatsheet://cheatsheet") == (
        "## A RULES\n[ar-00002] first\n\n## B RULES\n[br-00001] second\n    ## NOT A HEADING\n[br-00003] third"
    )


async def test_a_cheatsheet_over_the_limit_says_how_much_is_left(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "MAX_SHEET_CHARS", 60)
    house.memory.apply([Add(draft=Draft(content=f"rule {n}: {'x' * 20}")) for n in range(9)], grow_adds=False)
    text = await read(house, "cheatsheet://cheatsheet")
    assert text.count("[misc-") == 1
    assert text.endswith("(8 more; list_bullets gives them page by page.)")


async def test_single_bullets(house: House) -> None:
    house.memory.apply([Add(draft=Draft(content="first", tags=("a",)))])
    bullet = json.loads(await read(house, "cheatsheet://bullets/misc-00001"))
    assert (bullet["content"], bullet["tags"], bullet["helpful"]) == ("first", ["a"], 0)
    async with house.client() as client:
        assert [t.uri_template for t in (await client.list_resource_templates()).resource_templates] == [
            "cheatsheet://bullets/{id}"
        ]
        for uri in ("cheatsheet://bullets/misc-00009", "cheatsheet://bullets/../../etc/passwd", "cheatsheet://else"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)


async def test_prompts_name_tools_that_there_are(house: House) -> None:
    async with house.client() as client:
        prompts = (await client.list_prompts()).prompts
        texts = []
        for prompt in prompts:
            given = {argument.name: f"<{argument.name}>" for argument in prompt.arguments or []}
            for arguments in ({}, given):
                (message,) = (await client.get_prompt(prompt.name, arguments)).messages
                assert isinstance(message.content, TextContent)
                texts.append(message.content.text)
            assert all(value in texts[-1] for value in given.values())
            assert all(argument.description for argument in prompt.arguments or [])
        instructions = client.instructions or ""
    assert [prompt.name for prompt in prompts] == ["use_cheatsheet", "reflect", "tidy"]
    words = {word.strip(".,:;()") for word in "\n".join([*texts, instructions]).split()}
    assert {word for word in words if "_" in word and word.islower() and "<" not in word} - {"turn_id"} <= TOOLS
    told = {word.strip(".,") for word in instructions.split()}
    assert {"get_context", "recall", "learn", "feedback", "search_bullets", "add_bullet"} <= told
