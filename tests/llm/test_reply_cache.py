"""Replies that are paid for once."""

from __future__ import annotations

import logging
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.errors import ModelUnavailableError, SettingsError, SetupError
from cheatsheet.llm import local_provider
from cheatsheet.llm.litellm_model import FROM_CACHE, LiteLLMModel, load_litellm
from cheatsheet.llm.model import Message, Outcome, Request, Usage
from cheatsheet.llm.registry import make_model
from cheatsheet.llm.reply_cache import FILE_NAME, cache_key, reply_cache
from tests.llm.local import NAME, needs_local
from tests.llm.wire import GPT, QUESTION, Wire, refusal, reply, wire


@pytest.fixture(autouse=True)
def _empty() -> None:
    reply_cache.cache_clear()


def cached(line: Wire, folder: Path | None = None, **options: Any) -> LiteLLMModel:
    """A model on this wire that keeps replies: in the folder, or in memory."""
    kind = "memory" if folder is None else "disk"
    return line.model(cache=kind, cache_folder=folder, **options)


def ask(text: str = "Which team?", **fields: Any) -> Request:
    return Request(messages=(Message(role="user", content=text),), **{"max_tokens": 50, **fields})


@pytest.mark.parametrize("disk", [False, True])
def test_the_same_request_is_paid_for_once(disk: bool, tmp_path: Path) -> None:
    line = wire(reply("amber"), reply("teal"))
    folder = tmp_path / "kept" if disk else None
    first = cached(line, folder).complete(QUESTION)
    again = cached(line, folder).complete(QUESTION)
    assert (first.text, again.text, again.outcome, again.finish_reason) == ("amber", "amber", Outcome.OK, "stop")
    assert len(line.sent) == 1
    assert first.notes == ()
    assert again.notes == (FROM_CACHE,)
    assert again.usage == Usage(cost_usd=0.0, seconds=again.usage.seconds)
    assert first.usage.calls == 1


def test_nothing_is_kept_unless_it_is_asked_for() -> None:
    line = wire(reply("amber"), reply("teal"))
    model = line.model()
    assert [model.complete(QUESTION).text for _ in range(2)] == ["amber", "teal"]
    cached(line).complete(QUESTION)
    assert line.model().complete(QUESTION).notes == ()
    assert load_litellm().cache is None


def test_the_disk_outlives_the_process(tmp_path: Path) -> None:
    cached(wire(reply("amber")), tmp_path).complete(QUESTION)
    reply_cache.cache_clear()
    assert cached(wire(ModelUnavailableError("not asked")), tmp_path).complete(QUESTION).text == "amber"


DIFFERENT = {
    "the question": (ask("Which colour?"), {}),
    "the room": (ask(max_tokens=51), {}),
    "the temperature": (ask(temperature=0.5), {}),
    "the choices": (ask(choices=("amber", "teal")), {}),
    "the schema": (ask(json_schema={"type": "object"}), {}),
    "the stop texts": (ask(stop=("x",)), {}),
    "the model": (ask(), {"name": "openai/gpt-4o"}),
    "the server": (ask(), {"api_base": "http://gpu:8000/v1"}),
}


@pytest.mark.parametrize(("request_", "options"), DIFFERENT.values(), ids=DIFFERENT)
def test_another_request_is_asked(request_: Request, options: dict[str, Any]) -> None:
    line = wire(reply("amber"), reply("teal"))
    cached(line).complete(ask())
    answer = cached(line, **options).complete(request_)
    assert len(line.sent) == 2
    assert FROM_CACHE not in answer.notes


def test_options_of_the_call_are_part_of_the_key_and_secrets_are_not() -> None:
    """Also those that only a provider of one's own knows, which litellm leaves out of its key."""
    key = cache_key("m", QUESTION, {"seed": 1, "api_key": "sk-one"})
    assert key == cache_key("m", QUESTION, {"seed": 1, "api_key": "sk-two", "client": object()})
    assert len({key, *(cache_key("m", QUESTION, {"seed": 1, name: "x"}) for name in ("grammar", "n_ctx"))}) == 3


NOT_KEPT = {
    "an error": (refusal(500, "down"), {"retries": 0}),
    "a cut reply": (reply(choices=[{"index": 0, "finish_reason": "length", "message": {"content": "amb"}}]), {}),
    "an empty reply": (reply(""), {}),
    "a filtered reply": (
        reply(choices=[{"index": 0, "finish_reason": "content_filter", "message": {"content": None}}]),
        {},
    ),
    "no choices": (reply(choices=[]), {}),
}


@pytest.mark.parametrize(("answer", "options"), NOT_KEPT.values(), ids=NOT_KEPT)
def test_only_whole_answers_are_kept(answer: Any, options: dict[str, Any], tmp_path: Path) -> None:
    line = wire(answer, reply("amber"))
    model = cached(line, tmp_path, **options)
    try:
        assert model.complete(QUESTION).outcome is not Outcome.OK
    except ModelUnavailableError:
        assert options
    assert model.complete(QUESTION).text == "amber"
    assert len(line.sent) == 2


def test_choices_come_back_bare_and_texts_are_continued() -> None:
    line = wire(reply('{"answer": "teal"}'))
    model = cached(line)
    assert [model.complete(ask(choices=("amber", "teal"))).text for _ in range(2)] == ["teal", "teal"]
    choice = {"index": 0, "finish_reason": "stop", "text": " Paris", "logprobs": None}
    line = wire({**reply(), "object": "text_completion", "choices": [choice]})
    model = cached(line, name="text-completion-openai/gpt-3.5-turbo-instruct")
    assert [model.complete(Request(prompt="The capital is")).text for _ in range(2)] == [" Paris", " Paris"]
    assert len(line.sent) == 1


def test_no_key_and_no_prompt_stand_in_the_file(tmp_path: Path) -> None:
    cached(wire(reply("amber")), tmp_path, api_key="sk-secret-1234").complete(ask("my password is hunter2"))
    content = (tmp_path / FILE_NAME).read_bytes()
    assert b"amber" in content
    assert not any(secret in content for secret in (b"sk-secret", b"sk-test", b"hunter2"))


def test_a_fallback_keeps_its_own_answers() -> None:
    line = wire(refusal(503, "down"))
    other = wire(reply("from the other"))
    model = cached(line, retries=0, fallbacks=[cached(other, name="openai/other")])
    assert [model.complete(QUESTION).text for _ in range(2)] == ["from the other"] * 2
    assert (len(line.sent), len(other.sent)) == (2, 1)


def test_several_threads_share_one_file(tmp_path: Path) -> None:
    model = cached(wire(reply("amber")), tmp_path)
    texts: list[str] = []
    threads = [threading.Thread(target=lambda: texts.append(model.complete(QUESTION).text)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == ["amber"] * 6


def test_a_file_that_breaks_later_costs_a_note_and_no_answer(tmp_path: Path) -> None:
    line = wire(reply("amber"))
    model = cached(line, tmp_path)
    model.complete(QUESTION)
    (tmp_path / FILE_NAME).write_bytes(b"no database at all, but long enough to be read as one" * 20)
    answer = model.complete(ask("Which colour?"))
    assert answer.text == "amber"
    assert answer.notes[0].startswith("the reply could not be kept in the cache: ")


def test_a_folder_that_cannot_be_used_is_told_before_the_first_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    model = cached(wire(reply()), tmp_path / "file", api_key="sk-test")
    for call in (model.check, lambda: model.complete(QUESTION)):
        with pytest.raises(SetupError, match="Choose another cache_folder"):
            call()


def test_a_kind_that_does_not_exist() -> None:
    with pytest.raises(SettingsError, match="'off', 'memory', 'disk'"):
        LiteLLMModel(GPT, cache="redis")  # type: ignore[arg-type]  # that is the point
    with pytest.raises(SettingsError, match="cache_folder"):
        make_model(GPT, cache="disk")


@needs_local
def test_the_local_provider_is_asked_once_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Server:
        calls = 0

        def complete(self, body: dict[str, Any]) -> dict[str, Any]:
            self.calls += 1
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            return {"id": "x", "choices": [{"text": " amber", "finish_reason": "stop"}], "usage": usage}

    server = Server()
    monkeypatch.setattr(local_provider, "server_for", lambda path, **options: server)
    model = LiteLLMModel(NAME, context_window=512, cache="disk", cache_folder=tmp_path)
    for choices in (("amber",), ("amber",), ("amber", "teal")):
        assert model.complete(Request(prompt="Team:", choices=choices)).text.strip() == "amber"
    assert server.calls == 2


def test_it_is_quiet(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with caplog.at_level(logging.WARNING):
        model = cached(wire(reply("amber")), tmp_path)
        model.complete(QUESTION)
        model.complete(QUESTION)
    assert (caplog.records, capsys.readouterr()) == ([], ("", ""))


def test_the_file_is_a_table_of_replies(tmp_path: Path) -> None:
    cached(wire(reply("amber")), tmp_path).complete(QUESTION)
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    ((key, value),) = connection.execute("SELECT key, value FROM replies").fetchall()
    connection.close()
    assert len(key) == 64
    assert "amber" in value
