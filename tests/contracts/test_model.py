"""L1 to L4 over every model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from cheatsheet.errors import ModelError, ModelUnavailableError
from cheatsheet.evaluation.runs.recording.on_record import ModelOnRecord
from cheatsheet.evaluation.runs.recording.recording import Recording
from cheatsheet.llm.model import Capabilities, Message, Model, Outcome, Reply, Request
from cheatsheet.llm.recorded import RecordedModel
from cheatsheet.llm.scripted import ScriptedModel
from tests.llm.local import local_model, needs_local
from tests.llm.wire import Wire, refusal, reply, wire

QUESTION = Request(messages=(Message(role="user", content="Which team?"),), max_tokens=4)


def scripted(path: Path, *answers: str | Exception) -> Model:
    return ScriptedModel(answers)


def recorded(path: Path, *answers: str | Exception) -> Model:
    return RecordedModel(ScriptedModel(answers), path, "record")


def on_record(path: Path, *answers: str | Exception) -> Model:
    """A model of a run whose calls are recorded."""
    inner = ScriptedModel(answers)
    return ModelOnRecord(inner.name, lambda: inner, Recording(path, replays=False))


def litellm(path: Path, *answers: str | Exception) -> Model:
    """Real litellm over a wire that ends in the test."""
    wired: Wire = wire(
        *(refusal(503, "down") if isinstance(answer, Exception) else reply(answer) for answer in answers)
    )
    return wired.model(retries=1)


def local(path: Path, *answers: str | Exception) -> Model:
    """Says what it likes: only what holds for any answer is asked of it."""
    return local_model()


Made = Callable[..., Model]
SPEAKS = [scripted, recorded, on_record, litellm, pytest.param(local, marks=needs_local)]
OBEYS = [scripted, recorded, on_record, litellm]


@pytest.mark.parametrize("made", SPEAKS)
def test_l1_a_call_that_comes_back_is_a_reply_with_its_usage(made: Made, tmp_path: Path) -> None:
    model = made(tmp_path / "calls.jsonl", "amber")
    assert isinstance(model, Model)
    answer = model.complete(QUESTION)
    assert isinstance(answer, Reply)
    assert answer.readable
    assert answer.text.strip()
    assert answer.model == model.name
    assert answer.usage.calls == 1
    assert answer.usage.prompt_tokens > 0
    assert answer.usage.completion_tokens > 0
    assert answer.usage.cost_complete


@pytest.mark.parametrize("made", OBEYS)
def test_l1_an_empty_answer_is_a_reply_too(made: Made, tmp_path: Path) -> None:
    answer = made(tmp_path / "calls.jsonl", "").complete(QUESTION)
    assert (answer.outcome, answer.text, answer.readable) == (Outcome.EMPTY, "", False)
    assert answer.usage.calls == 1
    assert answer.notes


@pytest.mark.parametrize("made", OBEYS)
def test_l2_a_call_that_does_not_come_back_is_a_model_error(made: Made, tmp_path: Path) -> None:
    down = ModelUnavailableError("down")
    model = made(tmp_path / "calls.jsonl", down, down)
    with pytest.raises(ModelError, match="down"):
        model.complete(QUESTION)


@pytest.mark.parametrize("made", SPEAKS)
def test_l3_a_request_without_words_is_a_fault_of_the_program(made: Made, tmp_path: Path) -> None:
    model = made(tmp_path / "calls.jsonl", "amber")
    with pytest.raises((AttributeError, TypeError)):
        model.complete("Which team?")  # type: ignore[arg-type]  # a text is not a request


@pytest.mark.parametrize("made", SPEAKS)
def test_l4_calls_from_several_threads_are_safe(made: Made, tmp_path: Path) -> None:
    model = made(tmp_path / "calls.jsonl", *["amber"] * 6)
    answers: list[Reply] = []
    threads = [threading.Thread(target=lambda: answers.append(model.complete(QUESTION))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 6
    assert len({answer.text for answer in answers}) == 1
    if isinstance(model, RecordedModel):
        assert RecordedModel(None, tmp_path / "calls.jsonl").damaged == ()


@pytest.mark.parametrize("made", SPEAKS)
def test_capabilities_are_a_value_that_does_not_change(made: Made, tmp_path: Path) -> None:
    model = made(tmp_path / "calls.jsonl", "amber")
    assert isinstance(model.capabilities, Capabilities)
    assert model.capabilities == model.capabilities
