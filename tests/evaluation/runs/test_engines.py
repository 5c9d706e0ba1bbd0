"""The engines of a grid, judged by their promises G1 to G7 (cases N01, N03, N07)."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import pytest

from cheatsheet.errors import (
    CheatsheetError,
    ModelAuthError,
    RunStoppedError,
    SetupError,
    StoreReadOnlyError,
    TaskError,
    UnknownNameError,
    WorkerLostError,
)
from cheatsheet.evaluation.runs import cell as cell_module
from cheatsheet.evaluation.runs.cell import Cell, live_cell
from cheatsheet.evaluation.runs.coordinator import CellOutcome, Coordinator, Standing
from cheatsheet.evaluation.runs.engines.base import CellEngine, Waiting
from cheatsheet.evaluation.runs.engines.processes import Processes
from cheatsheet.evaluation.runs.engines.sequential import Sequential
from cheatsheet.evaluation.runs.engines.worker import portable
from cheatsheet.evaluation.runs.folder import RunFolder
from cheatsheet.evaluation.runs.grid import GridResult, Planned, run_grid
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.runner import run
from tests.evaluation.fakes import World, letters, memory_content, spec_for
from tests.evaluation.workers import Events, Listener, Opener

needs_sigkill = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")

TASK = letters(5)
ARMS = ("default", "retrieval")
CELLS = tuple(f"{name}/{arm}" for name in ("one", "two") for arm in ARMS)


@pytest.fixture
def events(tmp_path: Path) -> Events:
    folder = tmp_path / "events"
    folder.mkdir()
    return Events(folder=folder)


def planned(folder: Path, events: Events, *names: str) -> list[Planned]:
    return [
        Planned(
            spec=spec_for(TASK, *ARMS, model=name),
            task=TASK,
            folder=folder / name,
            open_memory=Opener(events=events),
            name=name,
        )
        for name in names or ("one", "two")
    ]


def rows_of(result: GridResult) -> list[list[tuple[Row, ...]]]:
    return [[arm.rows for arm in found.arms] for found in result.runs]


def clean(tmp_path: Path) -> list[list[tuple[Row, ...]]]:
    """The rows of two runs that nothing befell, by the runner alone."""
    results = [
        run(spec_for(TASK, *ARMS, model=name), TASK, World().open, folder=tmp_path / f"clean-{name}")
        for name in ("one", "two")
    ]
    return [[arm.rows for arm in found.arms] for found in results]


@pytest.mark.parametrize("engine", [Sequential(), Processes(workers=2)], ids=["sequential", "processes"])
def test_the_rows_are_the_same_under_every_engine(tmp_path: Path, events: Events, engine: CellEngine) -> None:
    """G1, G2, G7: and every report came, in its cell's order, and no worker is left."""
    listener = Listener()
    result = run_grid(planned(tmp_path, events), engine=engine, progress=listener)
    assert rows_of(result) == clean(tmp_path)
    assert (result.done, result.total, result.scored, result.over) == (20, 20, 20, True)
    assert [arm.memory.version for found in result.runs for arm in found.arms if arm.memory] == [5] * 4
    assert sorted(listener.started) == [f"{cell} 0/5" for cell in CELLS]
    for cell in CELLS:
        assert [row for row in listener.rows if row.startswith(cell)] == [f"{cell} {id}" for id in range(1, 6)]
    assert listener.finished == 1
    assert multiprocessing.active_children() == []


@needs_sigkill
@pytest.mark.parametrize("moment", ["before-commit", "after-commit"])
def test_a_cell_whose_worker_is_killed_is_lived_on(tmp_path: Path, events: Events, moment: str) -> None:
    """G3: nothing is lost, and nothing is asked twice but the question that was in the air."""
    events.plan(f"{moment} retrieval:3")
    listener = Listener()
    result = run_grid(planned(tmp_path, events), engine=Processes(workers=2), progress=listener)
    assert rows_of(result) == clean(tmp_path)
    asked = [f"{arm}:{place}" for arm in ARMS for place in range(1, 6)] * 2
    assert sorted(events.noted("asked")) == sorted([*asked, *["retrieval:3"] * (moment == "before-commit")])
    (note,) = listener.notes
    assert "was lost (signal 9); another goes on after 2 questions" in note


@needs_sigkill
def test_a_cell_that_is_lost_again_and_again_is_given_up(tmp_path: Path, events: Events) -> None:
    """N07: an end comes to trying. G4: the other cells have all their rows."""
    events.plan("always default:2")
    with pytest.raises(WorkerLostError, match=r"lost 3 times after 1 questions \(signal 9\)"):
        run_grid(planned(tmp_path, events, "one"), engine=Processes(workers=2))
    assert events.noted("asked").count("default:2") == 3
    assert len(memory_content(tmp_path / "one" / "arms" / "retrieval" / "memory.db")) == 5
    events.once("always default:2")
    resumed = run_grid(planned(tmp_path, events, "one"), resume=True)
    assert rows_of(resumed) == clean(tmp_path)[:1]
    assert events.noted("asked").count("default:1") == 1


@pytest.mark.parametrize("engine", [Sequential(), Processes(workers=2)], ids=["sequential", "processes"])
def test_a_cell_that_fails_does_not_stop_the_others(tmp_path: Path, events: Events, engine: CellEngine) -> None:
    """G4."""
    events.plan("broken default")
    listener = Listener()
    with pytest.raises(StoreReadOnlyError, match=r"memory\.db cannot be written") as raised:
        run_grid(planned(tmp_path, events), engine=engine, progress=listener)
    told = "\n".join(raised.value.__notes__)
    assert "1 more failed" in told
    assert "/default: StoreReadOnlyError: " in told
    assert len([note for note in listener.notes if "failed, the others go on" in note]) == 2
    assert len([row for row in listener.rows if "/retrieval" in row]) == 10


@pytest.mark.parametrize("engine", [Sequential(), Processes(workers=1)], ids=["sequential", "processes"])
def test_a_refused_key_stops_all(tmp_path: Path, events: Events, engine: CellEngine) -> None:
    """G5: no further cell is begun."""
    events.plan("key default:2")
    with pytest.raises(ModelAuthError, match="revoked"):
        run_grid(planned(tmp_path, events), engine=engine)
    assert events.noted("asked") == ["default:1", "default:2"]


def test_ctrl_c_lets_every_worker_finish_its_question(tmp_path: Path, events: Events) -> None:
    """G6: and whoever goes on is asked nothing again."""
    listener = Listener(interrupt_at=(3,))
    with pytest.raises(RunStoppedError, match=f"of 20 questions.*--resume --out {tmp_path}") as stop:
        run_grid(planned(tmp_path, events), engine=Processes(workers=2), progress=listener)
    assert stop.value.done == len(listener.rows) == len(events.noted("asked")) < 20
    assert any("Ctrl-C once more" in note for note in listener.notes)
    assert listener.finished == 1
    resumed = run_grid(planned(tmp_path, events), engine=Sequential(), resume=True)
    assert rows_of(resumed) == clean(tmp_path)
    assert len(events.noted("asked")) == 20


def test_ctrl_c_twice_stops_at_once(tmp_path: Path, events: Events) -> None:
    """G6, G7: a call that does not come back does not keep the user waiting."""
    events.plan("hang default:2")
    with pytest.raises(RunStoppedError):
        run_grid(planned(tmp_path, events, "one"), engine=Processes(workers=2), progress=Listener(interrupt_at=(2, 3)))
    assert multiprocessing.active_children() == []
    events.once("hang default:2")
    assert rows_of(run_grid(planned(tmp_path, events, "one"), resume=True)) == clean(tmp_path)[:1]


@needs_sigkill
def test_workers_end_when_their_driver_is_killed(tmp_path: Path, events: Events) -> None:
    """G7, as far as it can be kept: they end after the question that they are at, and the run can be resumed."""
    events.plan("hang default:2")
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path)], cwd=Path(__file__).parents[3])
    until(lambda: "default:2" in events.noted("asked"))
    driver.kill()
    driver.wait()
    events.once("hang default:2")
    until(lambda: not any(alive(int(worker)) for worker in events.noted("workers")))
    asked = events.noted("asked")
    assert len(asked) < 20
    assert rows_of(run_grid(planned(tmp_path, events), resume=True)) == clean(tmp_path)
    assert len(events.noted("asked")) == 20


DRIVER = """
import sys
from pathlib import Path
from tests.evaluation.runs.test_engines import Events, Processes, planned, run_grid
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    run_grid(planned(folder, Events(folder=folder / "events")), engine=Processes(workers=2))
"""


def until(true: Callable[[], bool]) -> None:
    """Wait for what other processes do; the time limit of tests ends a wait that is in vain."""
    while not true():
        time.sleep(0.02)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_losses_count_anew_after_a_new_row(tmp_path: Path, events: Events) -> None:
    """G3: a cell that gets on, however slowly, is not given up."""
    cell = cell_in(tmp_path / "run", events)
    coordinator = coordinator_of(cell)
    waiting = Waiting(deque([cell]), coordinator, most_losses=1)
    for _ in range(3):
        assert waiting.next() is cell
        coordinator.row(cell.name, Row(id="1", position=0, target="A"))
        waiting.lost(cell, "signal 9")
    assert coordinator.outcomes == {}
    assert waiting.next() is cell
    waiting.lost(cell, "signal 9")
    assert waiting.next() is None
    assert isinstance(coordinator.outcomes[cell.name].error, WorkerLostError)


# One cell


def cell_in(folder: Path, events: Events) -> Cell:
    spec = spec_for(TASK, "retrieval")
    place = RunFolder(path=folder)
    with place.locked():
        place.begin(spec, resume=True)
    return Cell(
        name="retrieval",
        folder=folder,
        fingerprint=spec.fingerprint(),
        arm=spec.arms[0],
        cheaper=None,
        samples=TASK.samples,
        scorer="exact",
        open_memory=Opener(events=events),
    )


def coordinator_of(cell: Cell) -> Coordinator:
    return Coordinator({cell.name: Standing(total=len(cell.samples))})


def test_a_cell_survives_its_journey(tmp_path: Path, events: Events) -> None:
    cell = cell_in(tmp_path / "run", events)
    assert pickle.loads(pickle.dumps(cell)) == cell


def test_a_worker_that_does_not_see_the_run_says_so(tmp_path: Path, events: Events) -> None:
    cell = cell_in(tmp_path / "run", events)
    (tmp_path / "run" / "run.json").unlink()
    with pytest.raises(TaskError, match=r"does not see the run in .*: it is not there.*storage that all machines see"):
        live_cell(cell, coordinator_of(cell))
    with RunFolder(path=tmp_path / "run").locked():
        RunFolder(path=tmp_path / "run").begin(spec_for(TASK, "retrieval", model="other"), resume=True)
    with pytest.raises(TaskError, match="another run lies there"):
        live_cell(cell, coordinator_of(cell))
    assert events.noted("opened") == []


def test_two_workers_do_not_write_one_arm(tmp_path: Path, events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was given up for lost may be alive."""
    from filelock import FileLock

    monkeypatch.setattr(cell_module, "_LOCK_WAIT_S", 0.0)
    cell = cell_in(tmp_path / "run", events)
    cell.place.path.mkdir(parents=True)
    with FileLock(cell.place.path / "cell.lock"), pytest.raises(TaskError, match="still writes into"):
        live_cell(cell, coordinator_of(cell))
    assert live_cell(cell, coordinator_of(cell)).memory is not None


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ModelAuthError("no key"), ModelAuthError),
        (UnknownNameError("mode", "x", ["y"]), SetupError),  # made of three parts, which pickle does not know
        (RunStoppedError(Path(), done=1, total=2), CheatsheetError),
        (ZeroDivisionError("division by zero"), ZeroDivisionError),
    ],
)
def test_an_error_survives_its_journey(error: Exception, kind: type[Exception]) -> None:
    """As itself, or as the nearest of its kinds; what it says stays."""
    arrived = pickle.loads(pickle.dumps(portable(CellOutcome(cell="c", error=error)))).error
    assert type(arrived) is kind
    assert str(arrived) == str(error)
    assert type(error).__name__ in arrived.__notes__[0]


def test_a_share_of_the_cores(tmp_path: Path, events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each worker takes its share, what the user set holds, and this process stays as it is."""
    from cheatsheet.evaluation.runs.engines.processes import _shared_cores

    monkeypatch.setenv("RAYON_NUM_THREADS", "7")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with _shared_cores(1_000):
        assert (os.environ["OMP_NUM_THREADS"], os.environ["RAYON_NUM_THREADS"]) == ("1", "7")
    assert "OMP_NUM_THREADS" not in os.environ
    assert os.environ["RAYON_NUM_THREADS"] == "7"
