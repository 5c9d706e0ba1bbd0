"""What a run is, and whether two may be joined (case N02)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.runs.spec import ArmSpec, RunSpec, TaskSpec
from tests.evaluation.fakes import NOON, letters, spec_for

TASK = letters(3)
SPEC = spec_for(TASK, "default", "retrieval", settings={"retrieval": {"top_k": 5}, "temperature": 0.0})


def test_an_arm_is_named_by_its_mode() -> None:
    assert ArmSpec(mode="retrieval").name == "retrieval"
    assert ArmSpec(mode="retrieval", name="k8", settings={"top_k": 8}).name == "k8"


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", "a b", "é"])
def test_an_arm_s_name_can_be_a_folder(name: str) -> None:
    with pytest.raises(ValidationError, match="name"):
        ArmSpec(mode="retrieval", name=name)


def test_arms_are_told_apart_on_any_file_system() -> None:
    with pytest.raises(ValidationError, match="two arms are named 'k8'"):
        spec_for(TASK, arms=(ArmSpec(mode="retrieval", name="k8"), ArmSpec(mode="default", name="K8")))


def test_a_spec_has_arms_and_no_unknown_fields() -> None:
    with pytest.raises(ValidationError, match="arms"):
        spec_for(TASK, arms=())
    with pytest.raises(ValidationError, match="seeed"):
        spec_for(TASK, seeed=1)


def test_a_spec_comes_back_from_json() -> None:
    back = RunSpec.model_validate_json(SPEC.model_dump_json())
    assert back == SPEC
    assert back.fingerprint() == SPEC.fingerprint()


_OTHER: dict[str, tuple[dict[str, Any], str]] = {
    "order": ({"task": TaskSpec.of(replace(TASK, seed=4))}, "task.seed was null, is now 4"),
    "limit": ({"task": TaskSpec.of(replace(TASK, limit=2))}, "task.limit was null, is now 2"),
    "data": ({"task": TaskSpec.of(replace(TASK, sha256="f"))}, f'task.sha256 was "{"0" * 64}", is now "f"'),
    "model": ({"model": "other"}, 'model was "fake/model", is now "other"'),
    "embedder": ({"embedder": "other"}, 'embedder was "hashing", is now "other"'),
    "scorer": ({"scorer": "number"}, 'scorer was "exact", is now "number"'),
    "version": ({"version": "9"}, 'version was "0.1.0", is now "9"'),
    "prompts": ({"prompts": "abc"}, 'prompts was "", is now "abc"'),
    "setting": (
        {"settings": {"retrieval": {"top_k": 7}, "temperature": 0.0}},
        "settings.retrieval.top_k was 5, is now 7",
    ),
    "arm": (
        {"arms": (ArmSpec(mode="default"), ArmSpec(mode="retrieval", settings={"top_k": 8}))},
        "arms.retrieval.settings.top_k was not set, is now 8",
    ),
}


@pytest.mark.parametrize(("changes", "difference"), _OTHER.values(), ids=_OTHER.keys())
def test_what_changes_results_changes_the_fingerprint(changes: dict[str, Any], difference: str) -> None:
    """N02."""
    other = SPEC.model_copy(update=changes)
    assert other.fingerprint() != SPEC.fingerprint()
    assert SPEC.differences(other) == (difference,)


@pytest.mark.parametrize(
    "changes",
    [
        {"created_at": NOON + timedelta(days=1)},
        {"task": TaskSpec.of(replace(TASK, name="moved", path="/elsewhere/moved.jsonl"))},
        {"arms": tuple(reversed(SPEC.arms))},  # each arm has a memory of its own
    ],
)
def test_what_changes_no_result_does_not(changes: dict[str, Any]) -> None:
    other = SPEC.model_copy(update=changes)
    assert other.fingerprint() == SPEC.fingerprint()
    assert SPEC.differences(other) == ()


def test_a_spec_fits_its_task_alone() -> None:
    SPEC.must_fit(TASK)
    with pytest.raises(TaskError, match=r"do not fit: task\.seed was null, is now 4"):
        SPEC.must_fit(replace(TASK, seed=4))
