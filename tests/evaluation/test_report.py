"""Reports, as people read them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.text import Text

from cheatsheet.evaluation.metrics import ArmSummary, summarise_rows
from cheatsheet.evaluation.report import render_markdown, show
from tests.evaluation.test_metrics import rows_of

GOLDEN = Path(__file__).parents[1] / "golden"

COMPARED = (
    summarise_rows("default", rows_of("-----+----", prompt_tokens=61, completion_tokens=4, model_calls=1, seconds=0.5)),
    summarise_rows(
        "full-history",
        rows_of("--+--+-+-+", prompt_tokens=1430, completion_tokens=4, model_calls=1, seconds=2.25, cost_usd=0.0021),
    ),
    summarise_rows(
        "retrieval",
        rows_of(
            "-+-++++!++", prompt_tokens=412, completion_tokens=4, cached_tokens=300, model_calls=3, cost_usd=0.0008
        ),
    ),
)
CLEAN = (summarise_rows("cumulative", rows_of("+-+", prompt_tokens=1200, model_calls=2, seconds=400, cost_usd=1.5)),)
FAILED = (summarise_rows("default", rows_of("!!")), summarise_rows("retrieval", rows_of("")))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _known_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


def _shown(summaries: tuple[ArmSummary, ...], monkeypatch: pytest.MonkeyPatch, *, width: int) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    terminal = Terminal()
    show(summaries, terminal)
    return Text.from_ansi(terminal.getvalue()).plain  # without colours


@pytest.mark.parametrize(("name", "summaries"), [("compared", COMPARED), ("clean", CLEAN), ("failed", FAILED)])
def test_the_markdown_report(name: str, summaries: tuple[ArmSummary, ...]) -> None:
    assert render_markdown(summaries) == (GOLDEN / f"report_{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "width"), [("wide", 140), ("narrow", 80)])
def test_the_report_on_a_terminal(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = _shown(COMPARED, monkeypatch, width=width)
    assert shown == (GOLDEN / f"report_{name}.txt").read_text(encoding="utf-8")
    assert max(map(len, shown.splitlines())) <= width


def test_a_pipe_gets_markdown() -> None:
    pipe = io.StringIO()
    show(COMPARED, pipe)
    assert pipe.getvalue() == render_markdown(COMPARED)


def test_a_report_without_arms_is_its_head() -> None:
    assert render_markdown(()).startswith("| mode |  n |")


def test_names_are_not_read_as_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = _shown((summarise_rows("[bold]k8[/bold]", rows_of("+")),), monkeypatch, width=140)
    assert "[bold]k8[/bold]" in shown
