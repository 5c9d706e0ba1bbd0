"""Recording and replaying."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cheatsheet.errors import ModelUnavailableError, SetupError
from cheatsheet.llm.call_json import request_key
from cheatsheet.llm.model import Capabilities, Message, Outcome, Reply, Request, Usage
from cheatsheet.llm.recorded import RecordedModel
from cheatsheet.llm.scripted import ScriptedModel


def ask(text: str) -> Request:
    return Request(messages=(Message(role="user", content=text),))


def record(path: Path, *replies: str | Reply) -> None:
    model = RecordedModel(ScriptedModel(replies), path, "record")
    for number in range(len(replies)):
        model.complete(ask(f"question {number}"))


def test_what_was_recorded_is_replayed_without_the_model(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "calls.jsonl"
    full = Reply(
        text="amber",
        outcome=Outcome.LENGTH,
        model="scripted",
        usage=Usage(prompt_tokens=3, cached_tokens=1, calls=1, cost_complete=False, seconds=0.25),
        finish_reason="length",
        notes=("a note",),
    )
    record(path, full, "teal")
    replayed = RecordedModel(None, path)
    assert replayed.name == "scripted"
    assert replayed.complete(ask("question 1")).text == "teal"
    assert replayed.complete(ask("question 0")) == full


def test_what_is_not_on_record_is_named(tmp_path: Path) -> None:
    record(tmp_path / "calls.jsonl", "amber")
    for model in (None, ScriptedModel(["never asked"])):
        replayed = RecordedModel(model, tmp_path / "calls.jsonl", "replay")
        with pytest.raises(SetupError, match=r"no answer of scripted to this request .* ending 'something else'"):
            replayed.complete(ask("something else"))


def test_auto_asks_for_what_is_missing_and_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    inner = ScriptedModel(["amber", "teal"])
    model = RecordedModel(inner, path, "auto")
    assert [model.complete(ask(text)).text for text in ("a", "b", "a", "a")] == ["amber", "teal", "amber", "amber"]
    assert len(inner.requests) == 2
    assert RecordedModel(None, path).complete(ask("b")).text == "teal"


def test_equal_requests_are_answered_in_their_order_and_the_last_stays(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    recorder = RecordedModel(ScriptedModel(["first", "second"]), path, "record")
    for _ in range(2):
        recorder.complete(ask("same"))
    replayed = RecordedModel(None, path)
    assert [replayed.complete(ask("same")).text for _ in range(4)] == ["first", "second", "second", "second"]


def test_errors_are_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    model = RecordedModel(ScriptedModel([ModelUnavailableError("down"), "amber"]), path, "auto")
    with pytest.raises(ModelUnavailableError):
        model.complete(ask("a"))
    assert model.complete(ask("a")).text == "amber"
    assert len(path.read_text().splitlines()) == 1


def test_every_answer_is_on_disk_at_once(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    model = RecordedModel(ScriptedModel(["a", "b"]), path, "record")
    for number in (1, 2):
        model.complete(ask(str(number)))
        assert path.read_bytes().count(b"\n") == number


def test_s06_a_torn_last_line_is_told_and_does_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    record(path, "amber", "teal")
    path.write_bytes(path.read_bytes()[:-20])
    model = RecordedModel(ScriptedModel(["teal again"]), path, "auto")
    assert [damage.partition(":")[0] for damage in model.damaged] == ["line 2"]
    assert model.complete(ask("question 0")).text == "amber"
    assert model.complete(ask("question 1")).text == "teal again"
    again = RecordedModel(None, path)
    assert len(again.damaged) == 1
    assert [again.complete(ask(f"question {n}")).text for n in (0, 1)] == ["amber", "teal again"]


def test_s07_two_records_on_one_line_are_one_damaged_line(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    record(path, "a", "b", "c")
    first, second, third = path.read_text().splitlines()
    path.write_text(f"{first}{second}\n{third}\n")
    model = RecordedModel(None, path)
    assert len(model.damaged) == 1
    assert model.complete(ask("question 2")).text == "c"


def test_s14_line_separators_inside_a_text_do_not_split_a_record(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    record(path, "a\u2028b\u0085c")
    raw = json.dumps(json.loads(path.read_text()), ensure_ascii=False)
    path.write_text(raw + "\n", encoding="utf-8")
    model = RecordedModel(None, path)
    assert model.damaged == ()
    assert model.complete(ask("question 0")).text == "a\u2028b\u0085c"


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_comes_back(tmp_path: Path, question: str, answer: str) -> None:
    path = tmp_path / "calls.jsonl"
    path.unlink(missing_ok=True)
    spoken = Reply(text=answer, outcome=Outcome.OK, model="scripted")
    RecordedModel(ScriptedModel([spoken]), path, "record").complete(ask(question))
    assert RecordedModel(None, path).complete(ask(question)) == spoken


def test_a_recording_that_is_not_there() -> None:
    with pytest.raises(SetupError, match="no recording at"):
        RecordedModel(None, "none.jsonl")
    with pytest.raises(SetupError, match="needs the model"):
        RecordedModel(None, "none.jsonl", "record")


def test_a_file_of_several_models_needs_a_name(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    for name in ("one", "two"):
        RecordedModel(ScriptedModel([f"by {name}"], name=name), path, "record").complete(ask("who"))
    with pytest.raises(SetupError, match="one, two"):
        RecordedModel(None, path)
    assert RecordedModel(None, path, name="two").complete(ask("who")).text == "by two"


def test_a_key_tells_all_requests_apart_that_differ_and_no_others() -> None:
    chat = ask("a")
    keys = {
        request_key("m", request)
        for request in (
            chat,
            Request(prompt="a"),
            Request(messages=chat.messages, temperature=0.5),
            Request(messages=chat.messages, max_tokens=1),
            Request(messages=chat.messages, choices=("a",)),
            Request(messages=chat.messages, stop=("a",)),
            Request(messages=chat.messages, json_schema={"type": "object"}),
        )
    }
    assert len(keys | {request_key("n", chat)}) == 8
    assert request_key("m", Request(messages=chat.messages, temperature=0)) == request_key("m", chat)
    assert request_key("m", chat) == "b54e7926241bab1a3068892522bb9aa221dc4b3002494a95918e1f7f3b682cbf"


def test_the_inner_model_s_capabilities_are_kept(tmp_path: Path) -> None:
    claimed = Capabilities(context_window=77)
    inner = ScriptedModel([], capabilities=claimed)
    assert RecordedModel(inner, tmp_path / "calls.jsonl", "auto").capabilities == claimed
