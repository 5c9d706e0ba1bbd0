"""Models that cannot be reached, answer too late, or die while they speak: nothing is learnt, and it is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from benchmarks.faults.states import state_in, state_of
from cheatsheet.engine.engine import Engine
from cheatsheet.errors import ModelError, ModelUnavailableError
from cheatsheet.interfaces.wiring import Given, build_engine
from cheatsheet.settings import load_settings
from tests.llm.wire import Answer, Wire, reply, wire

WHOLE = (
    '{"id": "x", "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "7'
)

FAILURES: dict[str, Callable[[], Answer]] = {
    "no network": lambda: httpx.ConnectError("[Errno 111] Connection refused"),
    "no answer in time": lambda: httpx.ReadTimeout("The read operation timed out"),
    "gone in the middle": lambda: httpx.RemoteProtocolError("peer closed connection without sending complete message"),
    "half an answer": lambda: httpx.Response(200, content=WHOLE, headers={"content-type": "application/json"}),
    "a page of a proxy": lambda: httpx.Response(502, text="<html>Bad Gateway</html>"),
}


def opened(path: Path, calls: Wire, **settings: object) -> Engine:
    model = calls.model(retries=0)
    own = {"embedder": "hashing", "counter": "chars", "reflector": "rules", "curator": "rules", "model": None}
    return build_engine(load_settings(path=str(path), **{**own, **settings}), Given(model=model))


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_a_model_that_fails_leaves_the_memory_as_it_was(lived: Path, failure: Callable[[], Answer]) -> None:
    before = state_in(lived)
    with opened(lived, wire(failure())) as engine:
        with pytest.raises(ModelError) as raised:
            engine.solve("How much is item 3?", expected="8", turn_id="turn-100")
        assert "openai/gpt-4o-mini" in str(raised.value)
        assert state_of(engine._store) == before
        assert engine.recall("How much is item 3?").experiences
    assert state_in(lived) == before


def test_a_model_that_comes_back_is_asked_again_under_the_same_name(lived: Path) -> None:
    with opened(lived, wire(httpx.ConnectError("refused"), reply("7"))) as engine:
        with pytest.raises(ModelUnavailableError):
            engine.solve("How much is item 3?", expected="8", turn_id="turn-100")
        turn = engine.solve("How much is item 3?", expected="8", turn_id="turn-100")
    assert turn.answer == "7"
    assert state_in(lived).turns[-1] == "turn-100"


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_a_reflector_that_fails_costs_no_answered_turn(lived: Path, failure: Callable[[], Answer]) -> None:
    """The answer is there and was paid for: what was seen of it is kept, and the notes say what is missing."""
    with opened(lived, wire(reply("7"), failure()), reflector="model", reflection_depth=1) as engine:
        turn = engine.solve("How much is item 3?", expected="8", turn_id="turn-100")
    assert turn.lesson.experience_id
    assert any("openai/gpt-4o-mini" in note for note in turn.lesson.notes), turn.lesson.notes
    state = state_in(lived)
    assert state.turns[-1] == "turn-100"
    assert not state.flaws
