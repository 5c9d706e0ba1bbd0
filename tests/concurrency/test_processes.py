"""Real processes on one file, each with an engine of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cheatsheet
from cheatsheet.memory.experience import Feedback
from tests.concurrency.worlds import heard, program, say

SETTINGS: dict[str, Any] = {"mode": "retrieval", "embedder": "hashing", "counter": "chars"}
QUESTION = "Where do parcels with a red mark go?"

# Learns what it is told, a line each; it tells when all is prepared, and writes once it gets another line.
LEARNER = f"""
import json, sys
import cheatsheet
from cheatsheet.memory.experience import Feedback

with cheatsheet.open(sys.argv[1], **{SETTINGS!r}) as memory:
    commit = memory._store.commit

    def write(*args, **more):
        print("prepared", flush=True)
        input()
        return commit(*args, **more)

    memory._store.commit = write
    print("open", flush=True)
    for line in sys.stdin:
        lesson = memory.learn({QUESTION!r}, "crimson", feedback=Feedback(correct=True, comment=line.strip()))
        types = [operation.type for operation in lesson.operations]
        print(json.dumps([types, lesson.notes, lesson.skipped]), flush=True)
"""


def test_what_two_processes_learn_at_the_same_instant_is_one_bullet(memory_file: Path) -> None:
    """Both have found it to be new before either writes."""
    with program(LEARNER, str(memory_file)) as one, program(LEARNER, str(memory_file)) as two:
        assert [heard(one), heard(two)] == ["open", "open"]
        say(one, "They go to the crimson desk at once.")
        say(two, "They go to the crimson desk at once, all of them.")
        assert [heard(one), heard(two)] == ["prepared", "prepared"]
        say(one)
        assert json.loads(heard(one)) == [["add"], [], []]
        say(two)
        types, notes, skipped = json.loads(heard(two))
        assert (types, skipped) == (["merge"], [])
        assert "was merged into sai-00001" in " ".join(notes)
    with cheatsheet.open(memory_file, **SETTINGS) as memory:
        (bullet,) = memory.memory.bullets()
        assert len(bullet.sources) == 2
        assert memory.stats().experiences == 2


def test_what_another_process_has_learnt_is_in_the_next_recall(memory_file: Path) -> None:
    with cheatsheet.open(memory_file, **SETTINGS) as memory, program(LEARNER, str(memory_file)) as other:
        memory.learn("What about refunds?", "teal", feedback=Feedback(correct=True, comment="A second person signs."))
        assert heard(other) == "open"
        assert [memory.recall(QUESTION).cached for _ in range(2)] == [False, True]
        say(other, "They go to the crimson desk at once.")
        assert heard(other) == "prepared"
        assert memory.recall(QUESTION).cached, "it is not written yet"
        say(other)
        assert json.loads(heard(other))[0] == ["add"]
        recall = memory.recall(QUESTION)
        assert not recall.cached
        assert "crimson desk" in recall.text
        assert {hit.value.id for hit in recall.bullets} == {"sai-00001", "sai-00002"}
