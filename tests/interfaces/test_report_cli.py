"""`cheatsheet report`."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import pytest

from tests.evaluation.reports.page import worlds
from tests.evaluation.reports.page.worlds import stream
from tests.interfaces.shell import Shell


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    arms = {"default": stream("-" * 12), "retrieval": stream("-" + "+" * 11, tokens=210)}
    worlds.write_run(folder / "one", arms, seed=1)
    worlds.write_run(folder / "two", arms, seed=2)
    return folder


def test_a_page(shell: Shell, runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="pages need the extra `report`")
    code, out, err = shell("report", str(runs), "--title", "Ours")
    assert (code, err) == (0, "Report: report.html\n")
    assert out == (
        "colours: Memory helps here. retrieval scores 91.7 points more than default "
        "(95 % interval 66.7 to 100, n = 12 in 2 orders), at 2.1 times the tokens. "
        "By the sign-flip test over questions, p < 0.001.\n"
    )
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>Ours</title>" in page


def test_markdown_and_csv_need_no_extra(shell: Shell, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("altair", "vl_convert", "jinja2"):
        monkeypatch.setitem(sys.modules, package, None)
    code, out, err = shell("report", str(runs), "--markdown")
    assert (code, err) == (0, "")
    assert out.startswith("# Memory on colours\n\n**Memory helps here.**\n")
    code, out, _ = shell("report", str(runs), "--csv")
    assert code == 0
    assert len(list(csv.DictReader(io.StringIO(out, newline="")))) == 2 * 2 * 12
    code, _, err = shell("report", str(runs))
    assert code == 2
    assert "--markdown and --csv need it not" in err


def test_line_ends_of_csv_in_a_file_are_those_of_rfc_4180(shell: Shell, runs: Path, tmp_path: Path) -> None:
    code, out, err = shell("report", str(runs / "one"), "--csv", "--out", "answers.csv")
    assert (code, out, err) == (0, "", "Report: answers.csv\n")
    data = (tmp_path / "answers.csv").read_bytes()
    assert data.count(b"\r\n") == 1 + 2 * 12
    assert b"\r\r\n" not in data


def test_another_baseline(shell: Shell, runs: Path) -> None:
    _, out, _ = shell("report", str(runs), "--markdown", "--baseline", "retrieval")
    assert "default scores 91.7 points fewer than retrieval" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["{runs}", "--markdown", "--csv"], "--markdown and --csv cannot be given together: choose one."),
        (["{runs}", "--csv", "--baseline", "retreival"], "Did you mean 'retrieval'?"),
        (["nowhere", "--csv"], "nowhere is no folder."),
        (["{runs}", "--csv", "--out", "no/such/folder/a.csv"], "cannot be written to no/such/folder/a.csv"),
    ],
)
def test_mistakes_are_sentences(shell: Shell, runs: Path, arguments: list[str], told: str) -> None:
    code, out, err = shell("report", *(argument.format(runs=runs) for argument in arguments))
    assert (code, out) == (2, "")
    assert told in err
    assert "Traceback" not in err


def test_a_run_that_was_stopped_can_be_reported(shell: Shell, tmp_path: Path) -> None:
    """N06: an arm that was not asked anything yet has no score, and is no reason to fail."""
    worlds.write_run(tmp_path / "run", {"default": stream("-+-"), "retrieval": []})
    code, out, err = shell("report", "run", "--markdown")
    assert (code, err) == (0, "")
    assert "There is nothing to compare with" in out
