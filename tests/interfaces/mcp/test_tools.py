"""The tools, by the SDK's own client in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import Client

from cheatsheet.errors import ModelUnavailableError
from cheatsheet.interfaces.mcp.results import MAX_PAGE_CHARS
from cheatsheet.memory.operations import Add, Draft
from tests.interfaces.mcp.conftest import House, ok, refused

pytestmark = pytest.mark.anyio

QUESTION = "My card was charged twice. Which team?"
TOOLS = {
    "get_context", "recall", "learn", "feedback", "add_bullet", "search_bullets", "list_bullets", "update_bullet",
    "remove_bullet", "log", "import_playbook", "export_playbook", "stats",
}  # fmt: skip


async def test_what_an_agent_is_told_of_the_tools(house: House) -> None:
    async with house.client() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == TOOLS
    for name, tool in tools.items():
        description = tool.description or ""
        assert "Call it" in description, name
        assert "\n    " not in description, "the indentation of the code shows"
        assert tool.title
        assert tool.annotations is not None
        assert tool.annotations.open_world_hint is False
        assert tool.input_schema["additionalProperties"] is False
        for argument, schema in tool.input_schema["properties"].items():
            assert schema.get("description"), f"{name}.{argument}"
    read_only = {name for name, tool in tools.items() if tool.annotations and tool.annotations.read_only_hint}
    assert read_only == {"get_context", "recall", "search_bullets", "list_bullets", "export_playbook", "stats"}
    destructive = {name for name, tool in tools.items() if tool.annotations and tool.annotations.destructive_hint}
    assert destructive == {"update_bullet", "remove_bullet"}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_turn_from_recall_to_a_verdict_that_comes_later(house: House, mode: str) -> None:
    async with house.client(mode) as client:
        recalled = await ok(client, "recall", question=QUESTION, choices=["amber", "crimson"])
        assert (recalled["turn_id"], recalled["text"]) == ("t-1", "")
        learnt = await ok(client, "learn", turn_id="t-1", answer="crimson")
        assert (learnt["turn_id"], learnt["experience_id"], learnt["changes"]) == ("t-1", "exp-00001", [])
        judged = await ok(client, "feedback", id="t-1", comment="wrong: cards belong to the amber team")
        assert judged["experience_id"] == "exp-00002"
        assert judged["changes"][0].startswith("add err-00001: content=")
        assert judged["changes"][1].startswith("remove exp-00001")
        again = await ok(client, "recall", question=QUESTION)
        assert "cards belong to the amber team" in again["text"]
        assert [hit["id"] for hit in again["bullets"]] == ["err-00001"]
    (lived,) = house.memory.memory.experiences()
    assert (lived.id, lived.answer, lived.feedback.verdict) == ("exp-00002", "crimson", False)
    assert lived.choices == ("amber", "crimson")
    assert house.memory.learnt("t-1")
    assert house.memory.learnt("t-1+1")


async def test_a_verdict_for_a_turn_that_was_only_recalled_needs_the_answer(house: House) -> None:
    async with house.client() as client:
        await ok(client, "recall", question=QUESTION)
        assert "Give answer=" in await refused(client, "feedback", id="t-1", correct=False)
        judged = await ok(client, "feedback", id="t-1", correct=False, answer="crimson", expected="amber")
    assert judged["experience_id"] == "exp-00001"
    (lived,) = house.memory.memory.experiences()
    assert (lived.answer, lived.feedback.expected, lived.feedback.verdict) == ("crimson", "amber", False)


async def test_a_verdict_for_an_experience_of_an_earlier_session(house: House) -> None:
    lesson = house.memory.learn(QUESTION, "crimson")
    async with house.client() as client:
        judged = await ok(client, "feedback", id=lesson.experience_id, expected="amber")
        assert "replaced" in await refused(client, "feedback", id=lesson.experience_id, correct=True)
    (lived,) = house.memory.memory.experiences()
    assert (lived.id, lived.answer, lived.feedback.verdict) == (judged["experience_id"], "crimson", False)


async def test_learn_without_a_recall(house: House) -> None:
    async with house.client() as client:
        learnt = await ok(client, "learn", question=QUESTION, answer="amber", score=0.9, reasoning="It is a card.")
        assert learnt["turn_id"] == "t-1"
        assert "Add what became known with feedback" in await refused(client, "learn", turn_id="t-1", answer="amber")
        for both in ({}, {"turn_id": "t-1", "question": QUESTION}, {"question": "  "}):
            assert "Give either" in await refused(client, "learn", answer="amber", **both)
    (lived,) = house.memory.memory.experiences()
    assert (lived.feedback.score, lived.reasoning) == (0.9, "It is a card.")


async def test_an_id_that_is_not_known_is_told(house: House) -> None:
    async with house.client() as client:
        assert "There is no turn 't-99' here" in await refused(client, "feedback", id="t-99", correct=True)
        assert "There is no verdict" in await refused(client, "feedback", id="t-99", comment=" ")
        assert "no experience 'exp-00009'" in await refused(client, "feedback", id="exp-00009", correct=True)
        for _ in range(9):  # the server keeps eight
            await ok(client, "recall", question=QUESTION)
        assert "the last 8 are kept" in await refused(client, "learn", turn_id="t-1", answer="amber")
        await ok(client, "learn", turn_id="t-2", answer="amber")


async def test_get_context_is_the_given_one_and_its_turn_can_be_learnt(house: House) -> None:
    async with house.client() as client:
        assert await ok(client, "get_context", query=QUESTION) == "full:\n\nnote: a note\n\nturn_id: t-1"
        await ok(client, "learn", turn_id="t-1", answer="amber", correct=True)
        minimal = await ok(client, "get_context", query=QUESTION, minimal=True)
    assert minimal.startswith("minimal: ")
    assert "amber" in minimal


async def test_bullets_by_hand(house: House) -> None:
    async with house.client() as client:
        added = await ok(client, "add_bullet", content="Parcels go to crimson.", section="Team Rules", tags=["parcel"])
        id = added["bullet"]["id"]
        assert (id, added["bullet"]["section"], added["bullet"]["sources"]) == ("tr-00001", "team_rules", ["mcp"])
        twice = await ok(client, "add_bullet", content="Parcels go to crimson.", section="Team Rules")
        assert twice["bullet"]["id"] == id
        assert "was merged into" in twice["notes"][0]
        found = await ok(client, "search_bullets", query="Who takes parcels?", limit=3)
        assert [bullet["id"] for bullet in found["bullets"]] == [id]
        assert 0 < found["bullets"][0]["score"] < 1
        changed = await ok(client, "update_bullet", id=id, content="Parcels go to crimson, not amber.", vote="helpful")
        assert (changed["bullet"]["content"], changed["bullet"]["helpful"]) == ("Parcels go to crimson, not amber.", 1)
        removed = await ok(client, "remove_bullet", id=id, reason="The teams changed.")
        assert removed["bullet"]["status"] == "archived"
        version = house.memory.memory.version
        assert "is archived" in await refused(client, "update_bullet", id=id, vote="harmful")
        assert "is archived" in await refused(client, "remove_bullet", id=id, reason="again")
        assert "no bullet 'tr-00009'" in await refused(client, "remove_bullet", id="tr-00009", reason="it is not there")
        assert "nothing to change" in await refused(client, "update_bullet", id=id)
    assert house.memory.memory.version == version, "what is refused leaves no entry"
    assert {entry.cause for entry in house.memory.history()} == {"agent"}


async def test_an_agent_cannot_rewrite_a_bullet_into_less(house: House) -> None:
    content = "Refunds above 500 EUR need two signatures: the team lead's and that of the finance desk in Leiden."
    async with house.client() as client:
        id = (await ok(client, "add_bullet", content=content, pinned=True))["bullet"]["id"]
        assert "keeps its words" in await refused(client, "update_bullet", id=id, content="See above.")
        assert "stays" in await refused(client, "remove_bullet", id=id, reason="tidying")
    bullet = house.memory.memory.bullet(id)
    assert bullet is not None
    assert (bullet.content, bullet.status) == (content, "active")


async def test_long_lists_come_page_by_page(house: House) -> None:
    long = "A rule about number {} of many. " * 200
    drafts = [Draft(content=long.format(*[n] * 200), section="rules") for n in range(12)]
    house.memory.apply([Add(draft=draft) for draft in drafts], grow_adds=False)
    seen: list[str] = []
    offset: int | None = 0
    async with house.client() as client:
        while offset is not None:
            page = await ok(client, "list_bullets", section="rules", limit=8, offset=offset)
            assert sum(len(bullet["content"]) for bullet in page["bullets"]) <= MAX_PAGE_CHARS
            seen += [bullet["id"] for bullet in page["bullets"]]
            assert page["more"] == (page["next_offset"] is not None)
            offset = page["next_offset"]
        assert (await ok(client, "list_bullets", section="none"))["bullets"] == []
    assert seen == [f"rule-{n:05d}" for n in range(1, 13)]


async def test_the_log_and_playbooks_and_numbers(house: House, make_house: Callable[..., House]) -> None:
    async with house.client() as client:
        assert await ok(client, "log", text="Sorted the parcels.") == "Written into 2026-01-05.md."
        await ok(client, "add_bullet", content="Parcels go to crimson.", section="tickets")
        await ok(client, "add_bullet", content="Always say hello.", section="manners")
        written = await ok(client, "export_playbook", section="tickets")
        assert written["bullets"] == 1
        assert "no format" not in await refused(client, "export_playbook", format="nonsense")
        numbers = await ok(client, "stats")
    assert house.logged == ["Sorted the parcels."]
    assert (numbers["bullets"], numbers["mode"], numbers["measures"]["ace_bullets_total"]) == (2, "retrieval", 2)
    other = make_house()
    async with other.client() as client:
        dry = await ok(client, "import_playbook", text=written["text"], dry_run=True)
        assert (dry["entries"], dry["added"], dry["dry_run"], other.memory.stats().bullets) == (1, [], True, 0)
        done = await ok(client, "import_playbook", text=written["text"], name="team.json", tags=["team"])
        assert (done["added"], done["format"]) == (["tick-00001"], "json")
        again = await ok(client, "import_playbook", text=written["text"], name="team.json", tags=["team"])
        assert (again["entries"], again["added"]) == (1, [])
        assert "format" in await refused(client, "import_playbook", text="no playbook at all", format="nonsense")
    (bullet,) = other.memory.memory.bullets()
    assert (bullet.content, "team" in bullet.tags) == ("Parcels go to crimson.", True)


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("recall", {}, "question: Field required"),
        ("recall", {"querry": "x"}, "querry: Extra inputs are not permitted. It takes: question, choices."),
        ("recall", {"question": ""}, "question: String should have at least 1 character"),
        ("recall", {"question": "x" * 20_001}, "question: String should have at most 20000 characters"),
        ("learn", {"answer": 7, "question": "q"}, "answer: Input should be a valid string"),
        ("feedback", {"id": "t-1", "score": 2}, "score: Input should be less than or equal to 1"),
        ("list_bullets", {"limit": 0}, "limit: Input should be greater than or equal to 1"),
        ("list_bullets", {"order": "best"}, "order: Input should be 'id'"),
        ("stats", {"verbose": True}, "It takes: no arguments."),
        ("forget_everything", {}, "Unknown tool: forget_everything"),
    ],
)
async def test_malformed_calls_are_answered_with_a_sentence(
    house: House, name: str, arguments: dict[str, Any], told: str
) -> None:
    async with house.client() as client:
        said = await refused(client, name, **arguments)
        assert told in said
        assert "errors.pydantic.dev" not in said
        assert (await ok(client, "stats"))["bullets"] == 0


async def test_a_call_during_a_long_one(house: House) -> None:
    order: list[str] = []

    async def call(client: Client, name: str, /, **arguments: Any) -> None:
        await ok(client, name, **arguments)
        order.append(name)

    house.gate.clear()
    async with house.client("legacy") as client, anyio.create_task_group() as group:
        group.start_soon(lambda: call(client, "get_context", query=QUESTION))
        await anyio.to_thread.run_sync(house.waiting.wait, 60)
        await call(client, "stats")
        house.gate.set()
    assert order == ["stats", "get_context"]


async def test_errors_of_ours_become_sentences_and_faults_stay_inside(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def unavailable(*given: object, **named: object) -> None:
        error = ModelUnavailableError("The provider says: key sk-abcdefghijklmnop is over its limit.")
        error.add_note("Try again later.")
        raise error

    def faulty(*given: object, **named: object) -> None:
        raise ZeroDivisionError("the inner workings")

    monkeypatch.setattr(house.memory, "learn", unavailable)
    monkeypatch.setattr(house.memory, "stats", faulty)
    async with house.client() as client:
        said = await refused(client, "learn", question=QUESTION, answer="amber")
        assert said.endswith("The provider says: key [redacted] is over its limit.\nTry again later.")
        assert await refused(client, "stats") == "Error executing tool stats"
    assert "the inner workings" in caplog.text


async def test_an_engine_that_cannot_be_opened_is_told_and_tried_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = house.memory
    tries: list[int] = []

    def open_at_second() -> Any:
        tries.append(1)
        if len(tries) == 1:
            raise ModelUnavailableError("Not yet.")
        return made

    monkeypatch.setattr(house.engine, "_engine", None)
    monkeypatch.setattr(house.engine, "_open", open_at_second)
    async with house.client() as client:
        assert "Not yet." in await refused(client, "stats")
        assert (await ok(client, "stats"))["bullets"] == 0
        await ok(client, "stats")
    assert len(tries) == 2
