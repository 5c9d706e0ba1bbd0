"""Files beside the memory, while the disk is full or the process dies: the old ones or the new ones, never pieces."""

from __future__ import annotations

import errno
import re
import signal
from pathlib import Path

import pytest

from benchmarks.faults.dying import AtStep, Death, FailingCalls
from benchmarks.faults.nursery import Life, Nursery
from cheatsheet.context.providers.state import load_state
from cheatsheet.evaluation import jsonl
from indexes.exact import ExactIndex
from tests.faults import deeds
from tests.faults.worlds import runs

PLACES = {"an index": "main.index", "the state of a home": "state.json", "an export": "out.md", "a row": "rows.jsonl"}
FOR_GOOD = 10**9


def written(folder: Path, what: str) -> Path:
    folder.mkdir()
    path = folder / PLACES[what]
    deeds.WRITERS[what](path, "older")
    return path


def content(path: Path, what: str) -> object:
    """What a reader finds; reading a piece raises."""
    if what == "an index":
        return ExactIndex.load(path, fingerprint=None).watermark
    if what == "the state of a home":
        state, wrong = load_state(path.parent)
        return wrong or state.log_bytes
    if what == "a row":
        return [record.value for record in jsonl.mend(path).records]
    return path.read_bytes()


def replaced(nursery: Nursery, path: Path, what: str, death: Death) -> Life:
    return nursery.live("tests.faults.deeds:replace", death=death, what=what, path=str(path))


@pytest.mark.parametrize("what", deeds.WRITERS)
def test_a_file_is_the_old_one_or_the_new_one(failing_nursery: Nursery, tmp_path: Path, what: str) -> None:
    """S05: a full disk cuts no file short and leaves no draft. S06: a torn line takes no other with it."""
    whole = written(tmp_path / "whole", what)
    old = content(whole, what)
    calls = replaced(failing_nursery, whole, what, AtStep(step=0)).facts["calls"]
    new, refused = content(whole, what), 0
    for step in runs(calls):
        path = written(tmp_path / f"killed-{step}", what)
        life = replaced(failing_nursery, path, what, AtStep(step=step))
        assert life.signal == signal.SIGKILL
        assert content(path, what) in ((new,) if life.said else (old, new)), f"killed before step {step}"

        path = written(tmp_path / f"full-{step}", what)
        death = FailingCalls(step=step, until=FOR_GOOD, errno=errno.ENOSPC)
        ((_, outcome, message),) = replaced(failing_nursery, path, what, death).said
        assert content(path, what) == (new if outcome == "done" else old), f"full from step {step} on"
        if outcome != "done":
            refused += 1
            assert what == "an export" or (not outcome.startswith("raw") and str(path) in message)
            assert re.search("No space left on device", message)
        assert [left.name for left in path.parent.iterdir()] == [path.name], f"full from step {step} on"
    assert refused
