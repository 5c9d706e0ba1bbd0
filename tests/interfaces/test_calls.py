"""Where a recording is looked for, and what is said where it is not there."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from cheatsheet.errors import SetupError
from cheatsheet.evaluation.runs.folder import RunFolder
from cheatsheet.evaluation.runs.recording.on_record import CounterOnRecord, EmbedderOnRecord, ModelOnRecord
from cheatsheet.evaluation.runs.recording.recording import Recording
from cheatsheet.interfaces.arms import ArmOpener, arm_of
from cheatsheet.interfaces.calls import CallPlan, on_record
from cheatsheet.llm.scripted import ScriptedModel
from cheatsheet.settings import load_settings
from indexes.hashing import HashingEmbedder
from tests.evaluation.runs.recording.worlds import Provider, live, no_model, rows_of, spec_of, task_of

QUESTIONS = task_of("My card was charged twice", "Where is my parcel?")


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of runs with one recorded run in it, `small`."""
    Provider().install(monkeypatch)
    live(tmp_path / "runs" / "small", QUESTIONS, CallPlan(record=True), "default")
    no_model(monkeypatch)
    return tmp_path / "runs"


def test_recording_and_replaying_exclude_each_other() -> None:
    with pytest.raises(SetupError, match="--record and --replay exclude each other"):
        CallPlan(record=True, replay=Path("runs"))


def test_a_plan_and_its_opener_can_be_sent_to_another_process() -> None:
    opener = ArmOpener(settings=load_settings(model="local/fake"), calls=CallPlan(replay=Path("runs")))
    assert pickle.loads(pickle.dumps(opener)) == opener
    assert opener.calls.replay == Path.cwd() / "runs"


def test_a_replay_checks_no_model() -> None:
    """Its key and its packages may be missing."""
    opener = ArmOpener(settings=load_settings(model="openai/gpt-4o-mini"), calls=CallPlan(replay=Path("runs")))
    opener.check([arm_of("retrieval")])


@pytest.mark.parametrize("root", ["small", "."])
def test_a_run_is_found_in_its_folder_or_in_that_of_all_runs(recorded: Path, tmp_path: Path, root: str) -> None:
    live(tmp_path / "again" / "small", QUESTIONS, CallPlan(replay=recorded / root), "default")
    assert rows_of(tmp_path / "again" / "small", "default") == rows_of(recorded / "small", "default")


@pytest.mark.parametrize(
    ("root", "said"),
    [
        ("nowhere", r"There is no folder .*nowhere to replay"),
        (".", r"does not hold the run 'other' to replay: the runs in it are 'small'"),
        ("small/arms", r"does not hold the run 'other' to replay: there is no run.json in it or one level below"),
    ],
)
def test_a_folder_without_the_run_is_told(recorded: Path, tmp_path: Path, root: str, said: str) -> None:
    with pytest.raises(SetupError, match=said):
        live(tmp_path / "other", QUESTIONS, CallPlan(replay=recorded / root), "default")


def test_an_arm_that_was_not_run_is_told(recorded: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"has no arm 'full-history' to replay; its arms are 'default'"):
        live(tmp_path / "again", QUESTIONS, CallPlan(replay=recorded / "small"), "full-history")


def test_a_run_that_was_not_recorded_is_told(recorded: Path, tmp_path: Path) -> None:
    (recorded / "small" / "arms" / "default" / "calls.jsonl").unlink()
    with pytest.raises(SetupError, match=r"no calls of arm 'default' on record \(.*\): it was made without --record"):
        live(tmp_path / "again", QUESTIONS, CallPlan(replay=recorded / "small"), "default")


def test_another_task_is_told(recorded: Path, tmp_path: Path) -> None:
    spec = RunFolder(path=recorded / "small").spec()
    other = spec.model_copy(update={"task": spec.task.model_copy(update={"sha256": "1" * 64})})
    with pytest.raises(SetupError, match=r"has other questions \(questions, 000000000000…\) than this one"):
        CallPlan(replay=recorded).check(tmp_path / "small", other)
    CallPlan(replay=recorded).check(tmp_path / "small", spec)
    CallPlan().check(tmp_path / "any", other)


def test_all_arms_are_looked_for_before_anything_is_written(recorded: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"has no arm 'retrieval' to replay"):
        CallPlan(replay=recorded / "small").check(tmp_path / "new", spec_of(QUESTIONS, "default", "retrieval"))


def test_what_changed_since_is_said_with_what_is_missing(recorded: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError) as caught:
        live(tmp_path / "again", QUESTIONS, CallPlan(replay=recorded / "small"), "default", max_tokens=9)
    assert "question 'q1' of arm 'default'" in str(caught.value)
    assert "max_tokens was 2048, is 9" in str(caught.value)
    assert "Since it was recorded, these changed: settings.max_tokens was not set, is now 9." in str(caught.value)


def test_other_arms_are_no_difference(recorded: Path, tmp_path: Path) -> None:
    stored = RunFolder(path=tmp_path / "again")
    stored.path.mkdir()
    stored.begin(spec_of(QUESTIONS, "default", "retrieval"), resume=False)
    place = stored.arm(arm_of("default"))
    recording = CallPlan(replay=recorded / "small").recording(place.memory)
    assert recording is not None
    with pytest.raises(SetupError) as caught:
        recording.fact("weather", lambda: pytest.fail("a replay asked"))
    assert "Since it was recorded" not in str(caught.value)


def test_a_run_that_was_begun_without_a_recording_cannot_get_one(tmp_path: Path) -> None:
    memory = tmp_path / "arms" / "default" / "memory.db"
    memory.parent.mkdir(parents=True)
    assert CallPlan().recording(memory) is None
    memory.touch()
    with pytest.raises(SetupError, match="was begun without a recording"):
        CallPlan(record=True).recording(memory)


def test_it_is_told_before_the_first_question_of_any_arm(tmp_path: Path) -> None:
    spec = spec_of(QUESTIONS, "retrieval", "default")
    CallPlan(record=True).check(tmp_path, spec)
    memory = RunFolder(path=tmp_path).arm(spec.arms[1]).memory
    memory.parent.mkdir(parents=True)
    memory.touch()
    with pytest.raises(SetupError, match="default was begun without a recording"):
        CallPlan(record=True).check(tmp_path, spec)
    memory.with_name("calls.jsonl").touch()
    CallPlan(record=True).check(tmp_path, spec)


def test_only_what_needs_a_model_is_recorded(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "calls.jsonl", replays=False)
    plain = on_record(recording, load_settings(model="m", embedder="hashing"), model=None, embedder=HashingEmbedder)
    assert (plain.model, plain.counter, type(plain.embedder)) == (None, None, HashingEmbedder)
    local = load_settings(model="local/m", embedder="auto")
    all_of_it = on_record(recording, local, model=lambda: ScriptedModel([]), embedder=HashingEmbedder)
    assert isinstance(all_of_it.model, ModelOnRecord)
    assert isinstance(all_of_it.counter, CounterOnRecord)
    assert isinstance(all_of_it.embedder, EmbedderOnRecord)
