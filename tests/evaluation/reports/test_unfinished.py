"""Runs that are looked at before they are finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from cheatsheet.evaluation.reports.page.content import report_of
from cheatsheet.evaluation.reports.page.markdown import as_markdown_report
from cheatsheet.evaluation.reports.plain import tables_of
from cheatsheet.evaluation.reports.unfinished import unfinished
from cheatsheet.evaluation.runs.reading import find_runs
from tests.evaluation.reports.page.worlds import stream, write_run


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """Two orders: one finished, one in which the second arm has come half way."""
    write_run(tmp_path / "1", {"default": stream("-+-+"), "retrieval": stream("++++")}, seed=1)
    write_run(tmp_path / "2", {"default": stream("-+-+"), "retrieval": stream("++")}, seed=2)
    return tmp_path


def test_missing_answers_are_told(begun: Path) -> None:
    told = "Not finished: 14 of at least 16 answers are there, so that all of this may still change."
    results = find_runs([begun])
    assert unfinished(results) == told
    assert told in tables_of(results)[-1].footnotes
    assert f"**{told}**" in as_markdown_report(report_of(results))


def test_finished_runs_are_not_called_unfinished(tmp_path: Path) -> None:
    """An arm whose calls failed has all its rows."""
    write_run(tmp_path / "1", {"default": stream("-+-+"), "retrieval": stream("++!!")})
    write_run(tmp_path / "2", {"default": stream("-+")}, task="another")
    assert unfinished(find_runs([tmp_path])) == ""


def test_a_task_that_has_not_begun_is_no_failure(begun: Path) -> None:
    write_run(begun / "3", {"default": (), "retrieval": ()}, task="later", learns=False)
    assert unfinished(find_runs([begun])).startswith("Not finished: 14 of more than 16 answers")
    told = as_markdown_report(report_of(find_runs([begun])))
    assert told.count("### The arms") == 1  # no table of nothing
    assert "No question has been asked yet." in told


def test_an_arm_that_one_order_alone_has_begun_has_one_run(begun: Path) -> None:
    write_run(begun / "3", {"default": stream("-+-+"), "retrieval": ()}, seed=3)
    default, retrieval = (account.pooled for account in report_of(find_runs([begun])).groups[0].accounts)
    assert (default.runs, retrieval.runs) == (3, 2)
