"""Offline adaptation: epochs, validation, and the best memory kept."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.errors import ModelAuthError, ModelRateError, RunStoppedError, TaskError
from cheatsheet.evaluation.adaptation.course import Adaptation
from cheatsheet.evaluation.runs.protocol import Learner
from cheatsheet.evaluation.task import Sample, Task
from tests.evaluation.fakes import NOON
from tests.evaluation.learners import FakeLearner, School, questions, study
from tests.evaluation.runs.test_progress import Listener

TRAIN, VALIDATION = questions("t", 3), questions("v", 4)


def right_when(curve: dict[int, int]) -> School:
    """A model that answers so many validation questions rightly, given how many lessons there are."""

    def answers(text: str, lessons: int) -> str:
        known = curve.get(lessons, 0)
        return text.upper() if text.startswith("t") or int(text[1:]) <= known else "?"

    return School(answers=answers)


def fits(memory: FakeLearner) -> Learner:
    """Held by mypy: the fake promises what an adaptation asks for."""
    return memory


def validated(result: Adaptation) -> list[float | None]:
    return [epoch.validation.accuracy if epoch.validation else None for epoch in result.epochs]


def test_every_epoch_learns_all_and_is_judged_without_learning(tmp_path: Path) -> None:
    school = right_when({0: 1, 3: 2, 6: 4})
    result = study(tmp_path, school, TRAIN, VALIDATION, epochs=2)
    judged = ["v1", "v2", "v3", "v4"]
    assert school.asked == [*judged, "t1", "t2", "t3", *judged, "t1", "t2", "t3", *judged]
    assert validated(result) == [0.25, 0.5, 1.0]
    assert [epoch.train.accuracy if epoch.train else None for epoch in result.epochs] == [None, 1.0, 1.0]
    assert [(epoch.version, epoch.bullets) for epoch in result.epochs] == [(0, 0), (3, 3), (6, 6)]
    assert (result.best, result.kept, result.version, result.bullets) == (2, 2, 6, 6)
    first = result.epochs[1].validation
    assert first is not None
    assert first.accuracy_low is not None
    assert first.accuracy_high is not None
    assert first.accuracy_low < 0.5 < first.accuracy_high
    assert result.notes == ()


@pytest.mark.parametrize(
    ("curve", "kept", "lessons"),
    [
        ({0: 1, 3: 4, 6: 2, 9: 3}, 1, 3),
        ({0: 1, 3: 4, 6: 4, 9: 4}, 1, 3),  # of equals the earliest: its memory is the smallest
        ({0: 4, 3: 4, 6: 2, 9: 3}, 0, 0),  # learning made it worse: as it was before counts too
        ({0: 0, 3: 0, 6: 0, 9: 1}, 3, 9),
        ({}, 0, 0),
    ],
)
def test_the_best_memory_is_kept(tmp_path: Path, curve: dict[int, int], kept: int, lessons: int) -> None:
    result = study(tmp_path, right_when(curve), TRAIN, VALIDATION, epochs=3)
    assert (result.best, result.kept, result.bullets) == (kept, kept, lessons)
    with closing(FakeLearner(tmp_path / "memory.db", School())) as memory:
        causes = [entry.cause for entry in memory.history()]
        assert memory.stats().bullets == lessons
        assert memory.learnt(f"{result.spec.turns(3)}:3")  # what was learnt is in the journal still
    assert causes.count("rollback") == (kept != 3)


def test_of_partly_right_answers_the_best_score_counts(tmp_path: Path) -> None:
    """After each epoch the answer counts as right; after the second it has one tag more right."""
    tagged = Task(name="v", samples=(Sample(id="1", input="v1", target="a,b,c,d"),), sha256="v" * 8)
    answers = {3: "a,b,x,x", 6: "a,b,c,x", 9: "a,b,x,x"}
    school = School(answers=lambda text, lessons: answers.get(lessons, "x") if text == "v1" else text.upper())
    result = study(tmp_path, school, TRAIN, tagged, epochs=3, scorer="tags")
    assert [epoch.validation.correct for epoch in result.epochs if epoch.validation] == [0, 1, 1, 1]
    assert (result.best, result.kept) == (2, 2)


def test_without_validation_the_last_memory_is_kept_and_that_is_told(tmp_path: Path) -> None:
    result = study(tmp_path, School(), TRAIN, epochs=2)
    assert (result.best, result.kept, result.version) == (None, 2, 6)
    assert validated(result) == [None, None, None]
    assert result.notes == ("There is no validation file: the memory of the last epoch is kept.",)


@pytest.mark.parametrize(
    ("curve", "kept", "measured"),
    [
        ({0: 1, 3: 4, 6: 2}, 1, [0.25, 1.0, None]),
        ({0: 1, 3: 2, 6: 3}, 2, [0.25, None, 0.75]),
        ({0: 4, 3: 2, 6: 2}, 0, [1.0, None, None]),  # the memory that is kept was measured already
    ],
)
def test_the_test_measures_before_and_after_and_chooses_nothing(
    tmp_path: Path, curve: dict[int, int], kept: int, measured: list[float | None]
) -> None:
    exam = questions("x", 4)
    school = right_when(curve)
    result = study(tmp_path, school, TRAIN, VALIDATION, exam, epochs=2)
    assert result.kept == kept
    assert [epoch.test.accuracy if epoch.test else None for epoch in result.epochs] == measured
    asked = [sample.input for sample in exam.samples]
    assert school.asked[:4] == asked
    assert school.asked.count("x1") == (2 if kept else 1)
    assert result.answered == len(school.asked)
    again = right_when({})
    assert study(tmp_path, again, TRAIN, VALIDATION, exam, epochs=2, resume=True) == result
    assert again.asked == []
    with pytest.raises(TaskError, match=r"test\.name was not set|test\.sha256 was .*, is now not set"):
        study(tmp_path, again, TRAIN, VALIDATION, epochs=2, resume=True)


@pytest.mark.parametrize("batch_size", [1, 2, 3, 5])
def test_batches_are_learnt_together(tmp_path: Path, batch_size: int) -> None:
    """Answers of one batch are given with the same memory; the last batch may be smaller."""
    seen: list[int] = []

    def answers(text: str, lessons: int) -> str:
        seen.append(lessons)
        return text.upper()

    result = study(tmp_path, School(answers=answers), questions("t", 5), epochs=2, batch_size=batch_size)
    assert seen == [place - place % batch_size + 5 * epoch for epoch in range(2) for place in range(5)]
    assert result.version == 10


def test_a_failed_call_of_a_batch_costs_its_own_answer_only(tmp_path: Path) -> None:
    school = School(failures={"t2": ModelRateError("slow down")})
    result = study(tmp_path, school, questions("t", 4), epochs=1, batch_size=2)
    assert school.asked == ["t1", "t2", "t1", "t2", "t3", "t4"]
    assert result.epochs[1].train is not None
    assert (result.epochs[1].train.errors, result.epochs[1].train.correct, result.version) == (1, 3, 3)
    assert "'1' to '2' were learnt one by one, since a call failed: slow down" in result.notes[0]


def test_failed_validation_counts_as_wrong_and_all_failed_judges_nothing(tmp_path: Path) -> None:
    school = right_when({0: 4, 3: 4})
    school.failures = {"v1": ModelRateError("slow down")}
    assert validated(study(tmp_path / "one", school, TRAIN, VALIDATION, epochs=1)) == [0.75, 0.75]
    school.failures = {f"v{k}": ModelRateError("slow down") for k in range(1, 5)}
    result = study(tmp_path / "all", school, TRAIN, VALIDATION, epochs=1)
    assert (result.best, result.kept) == (None, 1)
    assert result.notes == ("No validation question was answered: the memory of the last epoch is kept.",)


def test_what_others_wrote_meanwhile_is_not_taken_back(tmp_path: Path) -> None:
    def answers(text: str, lessons: int) -> str:
        if text == "v4" and lessons == 6:
            with closing(FakeLearner(tmp_path / "memory.db", School())) as another:
                another.write_as_another()
        return text.upper() if lessons == 3 else "?"

    result = study(tmp_path, School(answers=answers), TRAIN, VALIDATION, epochs=2)
    assert (result.best, result.kept, result.bullets) == (1, 2, 7)
    assert "`cheatsheet rollback 3` does it" in result.notes[0]
    again = study(tmp_path, School(), TRAIN, VALIDATION, epochs=2, resume=True)
    assert again == result


def test_two_adaptations_of_one_memory_do_not_take_each_others_turns(tmp_path: Path) -> None:
    """The same ids again, in another folder, are other turns: everything is asked."""
    school = School()
    study(tmp_path, school, TRAIN, epochs=1)
    study(tmp_path, school, questions("u", 3), epochs=1, folder=tmp_path / "other")
    study(tmp_path, school, TRAIN, epochs=1, folder=tmp_path / "third", now=lambda: NOON.replace(year=2027))
    assert school.asked == ["t1", "t2", "t3", "u1", "u2", "u3", "t1", "t2", "t3"]


def test_validation_questions_that_were_trained_on_are_told(tmp_path: Path) -> None:
    result = study(tmp_path, School(), TRAIN, questions("t", 2), epochs=1)
    assert result.notes == ("2 of the validation questions are training questions too: they judge too kindly.",)
    leaky = study(tmp_path / "test", School(), TRAIN, VALIDATION, questions("v", 3), epochs=1)
    assert leaky.notes == ("3 of the test questions are training or validation questions too: they flatter.",)


def test_a_finished_adaptation_resumed_asks_and_changes_nothing(tmp_path: Path) -> None:
    first = study(tmp_path, right_when({0: 1, 3: 4}), TRAIN, VALIDATION, epochs=2)
    with closing(FakeLearner(tmp_path / "memory.db", School())) as memory:
        memory.write_as_another("turn")  # it goes on in use, and nothing of that is ever taken back
    school = School()
    assert study(tmp_path, school, TRAIN, VALIDATION, epochs=2, resume=True) == first
    assert (school.asked, school.moments) == ([], [])


def test_stopping_says_how_to_go_on(tmp_path: Path) -> None:
    school = School(kill_at=9, kill_with=KeyboardInterrupt())
    with pytest.raises(RunStoppedError, match=r"Stopped after 6 of 18 questions.*--resume --out .*run"):
        study(tmp_path, school, TRAIN, VALIDATION, epochs=2)
    assert school.moments[-1] == "answered"
    assert study(tmp_path, school, TRAIN, VALIDATION, epochs=2, resume=True).answered == 18


def test_progress_tells_every_part(tmp_path: Path) -> None:
    told = Listener()
    study(tmp_path, School(), questions("t", 1), questions("v", 1), epochs=1, progress=told)
    parts = ["epoch 0, validation 0/1 0 right", "1", "epoch 1, training 0/1 0 right", "1"]
    assert told.told == [*parts, "epoch 1, validation 0/1 0 right", "1", "finish"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epochs": 3}, "epochs was 2, is now 3"),
        ({"batch_size": 2}, "batch_size was 1, is now 2"),
        ({"setup": {"model": "b"}}, 'setup.model was "a", is now "b"'),
        ({"scorer": "contains"}, 'scorer was "exact", is now "contains"'),
    ],
)
def test_another_adaptation_is_not_resumed(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    study(tmp_path, School(), TRAIN, epochs=2, setup={"model": "a"})
    options: dict[str, Any] = {"epochs": 2, "setup": {"model": "a"}} | changes
    with pytest.raises(TaskError, match=message):
        study(tmp_path, School(), TRAIN, resume=True, **options)
    with pytest.raises(TaskError, match="holds a run already"):
        study(tmp_path, School(), TRAIN, epochs=2, setup={"model": "a"})


@pytest.mark.parametrize("options", [{"epochs": 0}, {"batch_size": 0}])
def test_numbers_below_one(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(TaskError, match="both must be 1 or more"):
        study(tmp_path, School(), TRAIN, **options)


@pytest.mark.parametrize(("batch_size", "kept"), [(1, 2), (2, 2), (3, 0)])
def test_a_refused_key_stops_it_and_leaves_it_to_be_resumed(tmp_path: Path, batch_size: int, kept: int) -> None:
    school = School(failures={"t3": ModelAuthError("revoked")})
    with pytest.raises(ModelAuthError, match="revoked"):
        study(tmp_path, school, TRAIN, epochs=1, batch_size=batch_size)
    with closing(FakeLearner(tmp_path / "memory.db", School())) as memory:
        assert memory.stats().version == kept
    school.failures.clear()
    assert study(tmp_path, school, TRAIN, epochs=1, batch_size=batch_size, resume=True).version == 3


def test_the_check_and_the_scorer_come_before_the_first_file(tmp_path: Path) -> None:
    def check() -> None:
        raise ModelAuthError("no key")

    with pytest.raises(ModelAuthError, match="no key"):
        study(tmp_path, School(), TRAIN, check=check)
    with pytest.raises(TaskError, match="cannot read the target 'V1'"):
        study(tmp_path, School(), questions("1", 2), VALIDATION, scorer="number")
    assert not (tmp_path / "run").exists()


def test_rows_that_are_gone_are_not_asked_of_a_memory_that_went_on(tmp_path: Path) -> None:
    study(tmp_path, School(), TRAIN, VALIDATION, epochs=1)
    path = tmp_path / "run" / "epochs" / "0" / "validation.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))
    with pytest.raises(TaskError, match=r"lacks 2 rows that were there before the memory went on, .* question '3'"):
        study(tmp_path, School(), TRAIN, VALIDATION, epochs=1, resume=True)


def test_another_memory_is_found_out(tmp_path: Path) -> None:
    study(tmp_path, School(), TRAIN, epochs=1)
    (tmp_path / "memory.db").unlink()
    with pytest.raises(TaskError, match="but the memory given does not know of it"):
        study(tmp_path, School(), TRAIN, epochs=1, resume=True)


def test_a_damaged_step(tmp_path: Path) -> None:
    study(tmp_path, School(), TRAIN, epochs=1)
    with (tmp_path / "run" / "steps.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"what": "danced"}\n')
    with pytest.raises(TaskError, match=r"steps\.jsonl, line 4 is no step"):
        study(tmp_path, School(), TRAIN, epochs=1, resume=True)


def test_a_result_is_plain_values(tmp_path: Path) -> None:
    result = study(tmp_path, School(), TRAIN, VALIDATION, epochs=1).as_dict()
    assert json.loads(json.dumps(result)) == result
    assert (result["best_epoch"], result["kept_epoch"], len(result["epochs"])) == (0, 0, 2)
