"""What the tests of the report share: runs are written, and pages made, once."""

from __future__ import annotations

import pytest

from cheatsheet.evaluation.reports.page.content import Report, report_of
from cheatsheet.evaluation.runs.reading import find_runs
from tests.evaluation.reports.page import worlds


@pytest.fixture(scope="session")
def three_orders(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("orders")
    worlds.helping(folder, seeds=(1, 2, 3))
    return report_of(find_runs([folder]))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return report_of(find_runs([worlds.hostile(tmp_path_factory.mktemp("hostile") / "run")]), title=worlds.HOSTILE[0])
