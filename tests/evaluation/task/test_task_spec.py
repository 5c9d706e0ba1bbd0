"""A run's description of its task: whatever changes the questions, and old runs as they were."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cheatsheet.evaluation.runs.spec import AdaptSpec, RunSpec, TaskSpec
from tests.evaluation.fakes import NOON, letters, spec_for

TASK = letters(3)
SPEC = spec_for(TASK, "default", "retrieval", settings={"retrieval": {"top_k": 5}, "temperature": 0.0})


def test_a_run_of_an_older_version_keeps_its_fingerprint() -> None:
    """As it was written before tasks had fields, splits, instructions and versions; so it can be resumed."""
    assert set(SPEC.task.model_dump()) == {"name", "path", "sha256", "seed", "limit"}
    assert SPEC.fingerprint() == "ecf9a438e8b730e3527f422a61ef19f8fb8fbb07d4d3e590107ea02b0f2abdff"


def test_an_adaptation_of_an_older_version_keeps_its_fingerprint() -> None:
    spec = AdaptSpec(train=TaskSpec.of(TASK), validation=None, epochs=1, batch_size=1, scorer="exact", created_at=NOON)
    assert spec.fingerprint() == "8b4a4199d8781c6b954dfc2a1cd3b3a9d4fa371d6df859a74129e233dcae8b63"
    assert spec.model_copy(update={"test": TaskSpec.of(TASK)}).fingerprint() != spec.fingerprint()


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"fields": {"input": "question"}}, 'task.fields.input was not set, is now "question"'),
        ({"split": "test:60/20/20"}, 'task.split was not set, is now "test:60/20/20"'),
        ({"instruction": "Solve it."}, 'task.instruction was not set, is now "Solve it."'),
        ({"version": "2"}, 'task.version was not set, is now "2"'),
    ],
)
def test_what_changes_the_questions_changes_the_run(changes: dict[str, Any], difference: str) -> None:
    changed = TaskSpec.of(replace(TASK, **changes))
    other = SPEC.model_copy(update={"task": changed})
    assert SPEC.differences(other) == (difference,)
    assert RunSpec.model_validate_json(other.model_dump_json()) == other
