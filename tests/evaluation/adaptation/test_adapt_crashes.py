"""Whatever ends an adaptation, between any two of its steps: resumed, it is the one that was never interrupted."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cheatsheet.errors import ModelRateError
from cheatsheet.evaluation import jsonl
from cheatsheet.evaluation.adaptation.course import Adaptation
from tests.evaluation.fakes import Killed
from tests.evaluation.learners import School, contents, questions, study

TRAIN, VALIDATION, TEST = questions("t", 4), questions("v", 2), questions("x", 1)


def answers(text: str, lessons: int) -> str:
    """Best after the first epoch, so that it is fetched back; lessons show in the answers of the training."""
    return text.upper() if text in ("t1", "v1") or (lessons == 4 and text == "v2") else f"{text} {lessons}"


def school(failing: bool = False) -> School:
    return School(answers=answers, failures={"t1": ModelRateError("slow down")} if failing else {})


def live(folder: Path, school: School, *, batch_size: int, part: int | None = None) -> Adaptation | None:
    """Go on with the adaptation; None where the process ended at the school's moment."""

    class Counting(jsonl.Appender):
        """Every line written is two moments: before it, where a part of it may be there, and after it."""

        def append(self, value: Any) -> None:
            try:
                school.moment("before line")
            except Killed:
                self._file.write(jsonl.encode(value)[:part])
                self._file.flush()
                raise
            super().append(value)
            school.moment("after line")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "Appender", Counting)
        patch.setattr("os.fsync", lambda file: None)  # no power is lost here, and there are thousands of lines
        try:
            return study(folder, school, TRAIN, VALIDATION, TEST, epochs=2, batch_size=batch_size, resume=True)
        except Killed:
            return None


def told(result: Adaptation | None) -> Any:
    """What is to be the same; notes may tell of the crash."""
    assert result is not None
    return result.epochs, result.best, result.kept, result.version, result.bullets


@pytest.mark.parametrize(("batch_size", "failing"), [(1, False), (3, False), (3, True)])
def test_killed_at_any_moment(tmp_path: Path, batch_size: int, failing: bool) -> None:
    clean, whole = tmp_path / "clean", school(failing)
    expected = live(clean, whole, batch_size=batch_size)
    assert told(expected)[1:3] == ((1, 1) if not failing else (0, 0))
    assert {"answered", "committed", "judged", "before rollback", "after rollback"} < set(whole.moments)
    for moment, name in enumerate(whole.moments, start=1):
        killed, model = tmp_path / str(moment), school(failing)
        model.kill_at = moment
        assert live(killed, model, batch_size=batch_size, part=0) is None
        asked, model.kill_at = len(model.asked), 0
        assert told(live(killed, model, batch_size=batch_size)) == told(expected), (moment, name)
        assert contents(killed) == contents(clean), (moment, name)
        _nothing_is_paid_for_twice(len(model.asked) - len(whole.asked), name, batch_size, failing)
        assert asked <= len(whole.asked)


def _nothing_is_paid_for_twice(twice: int, name: str, batch_size: int, failing: bool) -> None:
    """Only what was on its way from the model into the memory or the file, or never came back, is asked again."""
    on_its_way = {"answered": batch_size, "judged": 1, "before line": 1}
    assert twice <= on_its_way.get(name, 0) + (2 * batch_size if failing else 0), name


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(0, 90) | st.none()), max_size=4),
    st.sampled_from([1, 2, 3]),
    st.booleans(),
)
def test_killed_again_and_again(crashes: list[tuple[int, int | None]], batch_size: int, failing: bool) -> None:
    """Also with lines that were torn anywhere, or lack their line feed only."""
    with tempfile.TemporaryDirectory() as name:
        clean, killed = Path(name, "clean"), Path(name, "killed")
        expected = live(clean, school(failing), batch_size=batch_size)
        model = school(failing)
        for kill_at, part in crashes:
            model.kill_at = len(model.moments) + kill_at
            live(killed, model, batch_size=batch_size, part=part)
        model.kill_at = 0
        assert told(live(killed, model, batch_size=batch_size)) == told(expected)
        assert contents(killed) == contents(clean)
