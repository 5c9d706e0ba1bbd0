"""Cells on a Ray cluster, or on a Ray of this machine alone."""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, cast

from cheatsheet.errors import MissingExtraError, SetupError
from cheatsheet.evaluation.runs.cell import Cell, attempt
from cheatsheet.evaluation.runs.coordinator import CellOutcome, Coordinator, Standing
from cheatsheet.evaluation.runs.engines.base import STOPPING, Kept, Started, Waiting, counted_interrupts
from cheatsheet.evaluation.runs.engines.worker import portable
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.runs.spending import Budget, Stage

_ANSWER_S = 10.0  # for the cluster's address to take a connection
_LOOK_UP_S = 0.2  # how long a report or a Ctrl-C may go unnoticed


@dataclass(frozen=True, slots=True, kw_only=True)
class Ray:
    """A `CellEngine` of Ray tasks, `workers` of them at a time, spread over the nodes.

    The run's folder must lie on storage that all nodes see under the same path, and cheatsheet must be installed on
    all of them; a worker that does not see the run says so. Where this process is connected to Ray already, that
    connection is used and left as it is.

    Attributes:
        address: of the cluster, as `ray.init` takes it; None for a Ray of this machine that ends with the run.
        most_losses: so often a cell may lose its worker or its node without a new row (G3).
    """

    workers: int
    address: str | None = None
    most_losses: int = 2

    def check(self) -> None:
        """Make sure that there is Ray, and that something answers at the address; Ray itself asks for many minutes.

        Raises:
            MissingExtraError: the package is not installed.
            SetupError: nobody answers.
        """
        load_ray()
        host, colon, port = (self.address or "").rpartition("://")[2].rpartition(":")
        if not (colon and port.isdecimal()):
            return
        try:
            socket.create_connection((host, int(port)), timeout=_ANSWER_S).close()
        except OSError as error:
            raise SetupError(
                f"No Ray cluster answers at {self.address} ({error}). Start one with `ray start --head`, or leave "
                f"--address out for a Ray of this machine."
            ) from error

    def run(self, cells: Sequence[Cell], coordinator: Coordinator) -> None:
        """Live the cells; see `CellEngine`.

        Raises:
            MissingExtraError, SetupError: as `check`.
        """
        self.check()
        ray = load_ray()
        waiting = Waiting(deque(cells), coordinator, self.most_losses)
        with self._connected(ray), counted_interrupts() as interrupts:
            office = _Office(ray, coordinator)
            try:
                while office.tasks or (waiting.cells and not coordinator.closed):
                    office.fill(waiting, self.workers)
                    office.settle(waiting)
                    if interrupts.count and not coordinator.closed:
                        coordinator.note(STOPPING)
                        coordinator.stop()
                    if interrupts.count > 1:
                        break
            finally:
                office.close()
        if interrupts.count:
            raise KeyboardInterrupt

    @contextmanager
    def _connected(self, ray: ModuleType) -> Iterator[None]:
        if ray.is_initialized():
            yield
            return
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray reports to its makers otherwise
        where = {"address": self.address} if self.address else {"num_cpus": self.workers, "include_dashboard": False}
        try:
            ray.init(**where, log_to_driver=False, logging_level="error")
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise SetupError(f"Ray cannot be used at {self.address or 'this machine'}: {error}") from error
        try:
            yield
        finally:
            ray.shutdown()


class Mailbox:
    """Stands in for the coordinator in the cluster: answers reports at once, for the driver to fetch later."""

    def __init__(self, standings: Mapping[str, Standing], budget: Budget) -> None:
        self._coordinator = Coordinator(standings, budget=budget)
        self._mail: list[Started | Kept] = []

    def start(self, cell: str, standing: Standing) -> Stage:
        """As `Reports` says."""
        self._mail.append(Started(cell, standing))
        return self._coordinator.start(cell, standing)

    def row(self, cell: str, row: Row) -> Stage:
        """As `Reports` says."""
        self._mail.append(Kept(cell, row))
        return self._coordinator.row(cell, row)

    def stop(self) -> None:
        """Answer with STOP from now on."""
        self._coordinator.stop()

    def fetch(self) -> list[Started | Kept]:
        """What came since the last call, in order."""
        mail, self._mail = self._mail, []
        return mail


@dataclass(frozen=True, slots=True)
class MailedReports:
    """The coordinator as a task sees it.

    Attributes:
        mailbox: the handle of the actor.
    """

    mailbox: Any

    def start(self, cell: str, standing: Standing) -> Stage:
        """As `Reports` says."""
        return cast("Stage", load_ray().get(self.mailbox.start.remote(cell, standing)))

    def row(self, cell: str, row: Row) -> Stage:
        """As `Reports` says."""
        return cast("Stage", load_ray().get(self.mailbox.row.remote(cell, row)))


class _Office:
    """The driver's side: tasks under way, and the mailbox.

    Attributes:
        tasks: the cell of every task under way.
    """

    def __init__(self, ray: ModuleType, coordinator: Coordinator) -> None:
        self._ray = ray
        self._coordinator = coordinator
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=False
        )
        actor = ray.remote(num_cpus=0, scheduling_strategy=here)(Mailbox)  # lost only with the driver's own node
        self._mailbox = actor.remote(coordinator.standings, coordinator.budget)
        self._live = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(live_task)
        self.tasks: dict[Any, Cell] = {}

    def fill(self, waiting: Waiting, room: int) -> None:
        """Give out cells as long as there is room."""
        while len(self.tasks) < room and (cell := waiting.next()) is not None:
            self.tasks[self._live.remote(cell, self._mailbox)] = cell

    def settle(self, waiting: Waiting) -> None:
        """Wait a moment for tasks that end; pass on what was reported until then."""
        ended, _ = self._ray.wait(list(self.tasks), timeout=_LOOK_UP_S) if self.tasks else ((), ())
        self._pass_on()
        for task in ended:
            self._end(task, self.tasks.pop(task), waiting)
        if self._coordinator.closed:
            self._ray.get(self._mailbox.stop.remote())

    def close(self) -> None:
        """End all tasks that are under way, and the mailbox."""
        for task in self.tasks:
            self._ray.cancel(task, force=True)
        if self.tasks:
            self._ray.wait(list(self.tasks), num_returns=len(self.tasks))
        self._ray.kill(self._mailbox)

    def _pass_on(self) -> None:
        for report in self._ray.get(self._mailbox.fetch.remote()):
            match report:
                case Started(cell, standing):
                    self._coordinator.start(cell, standing)
                case Kept(cell, row):
                    self._coordinator.row(cell, row)

    def _end(self, task: Any, cell: Cell, waiting: Waiting) -> None:
        errors = self._ray.exceptions
        try:
            self._coordinator.over(self._ray.get(task))
        except errors.RayTaskError as error:  # it could not even be begun there, as where a package is missing
            self._coordinator.over(CellOutcome(cell=cell.name, error=error.cause or error))
        except errors.RayError as error:
            waiting.lost(cell, type(error).__name__)


def live_task(cell: Cell, mailbox: Any) -> CellOutcome:
    """The task: live one cell."""
    return portable(attempt(cell, MailedReports(mailbox)))


def load_ray() -> ModuleType:
    """The package.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import ray
        import ray.util.scheduling_strategies
    except ModuleNotFoundError as error:
        raise MissingExtraError("--engine ray needs Ray: pip install 'cheatsheet[ray]'.") from error
    return ray
