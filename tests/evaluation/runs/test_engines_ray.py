"""The Ray engine on a cluster of two nodes that this machine plays."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.errors import MissingExtraError, RunStoppedError, SetupError
from cheatsheet.evaluation.runs.engines.processes import Processes
from cheatsheet.evaluation.runs.engines.ray import Ray, load_ray
from cheatsheet.evaluation.runs.grid import run_grid
from cheatsheet.evaluation.runs.rows import Row
from tests.evaluation.runs.test_engines import clean, planned, rows_of
from tests.evaluation.workers import Events, Listener

pytestmark = [
    pytest.mark.timeout(600),  # Ray takes long to start where the cores are busy
    pytest.mark.enable_socket,  # between the processes of this machine
    pytest.mark.filterwarnings("default"),  # Ray's own, which come and go with its versions
]


@pytest.fixture
def events(tmp_path: Path) -> Events:
    folder = tmp_path / "events"
    folder.mkdir()
    return Events(folder=folder)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """The driver's node, which has no room for cells, and one more; a test adds a second."""
    pytest.importorskip("ray", reason="Ray is not installed")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("RAY_USAGE_STATS_ENABLED", "0")
        from ray.cluster_utils import Cluster

        played: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        played.add_node(num_cpus=1)
        yield played
        played.shutdown()


class Saboteur(Listener):
    """Does something when so many rows have come."""

    def __init__(self, at: int, deed: Callable[[], None]) -> None:
        super().__init__()
        self._at = at
        self._deed = deed

    def row(self, arm: str, row: Row) -> None:
        super().row(arm, row)
        if len(self.rows) == self._at:
            self._deed()


def test_a_node_that_is_lost_costs_no_row(tmp_path: Path, events: Events, cluster: Any) -> None:
    """G1 to G3: on two nodes, one of which is killed while both are at their third question."""
    node = cluster.add_node(num_cpus=1)
    hanging = [f"hang {arm}:3" for arm in ("default", "retrieval")]
    for event in hanging:
        events.plan(event)

    def kill_the_node() -> None:
        cluster.remove_node(node, allow_graceful=False)
        for event in hanging:
            events.once(event)

    listener = Saboteur(4, kill_the_node)
    engine = Ray(workers=2, address=cluster.address)
    result = run_grid(planned(tmp_path, events), engine=engine, progress=listener)
    assert rows_of(result) == clean(tmp_path)
    assert (result.done, result.total) == (20, 20)
    assert len([note for note in listener.notes if "was lost" in note]) == 1
    assert not load_ray().is_initialized()


def test_ctrl_c_on_a_cluster(tmp_path: Path, events: Events, cluster: Any) -> None:
    """G6: and the process engine goes on where the cluster stopped."""
    with pytest.raises(RunStoppedError) as stop:
        run_grid(
            planned(tmp_path, events),
            engine=Ray(workers=1, address=cluster.address),
            progress=Listener(interrupt_at=(1,)),
        )
    assert 0 < stop.value.done < 20
    assert rows_of(run_grid(planned(tmp_path, events), engine=Processes(workers=2), resume=True)) == clean(tmp_path)
    assert len(events.noted("asked")) == 20


def test_a_cluster_that_does_not_answer() -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(SetupError, match=f"No Ray cluster answers at {address}.*ray start --head"):
            Ray(workers=1, address=address).check()


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'cheatsheet\[ray\]'"):
        load_ray()
