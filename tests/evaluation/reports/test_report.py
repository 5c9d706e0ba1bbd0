"""Reports, as people read them."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from rich.text import Text

from cheatsheet.evaluation.metrics import ArmSummary, summarise_rows
from cheatsheet.evaluation.metrics.metric import Metric
from cheatsheet.evaluation.reports import figures
from cheatsheet.evaluation.reports.plain import show_results, table_of, tables_of
from cheatsheet.evaluation.reports.values import as_json
from cheatsheet.evaluation.runs.results import RunResult
from cheatsheet.evaluation.runs.rows import Row
from cheatsheet.evaluation.table import as_markdown, show
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft, Tag
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from tests.evaluation.fakes import NOON
from tests.evaluation.streams import rows_of, run_of

GOLDEN = Path(__file__).parents[2] / "golden"

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


def _in_markdown(summaries: Sequence[ArmSummary]) -> str:
    return as_markdown(table_of(summaries))


def _all_in_markdown(results: Sequence[RunResult], *, metrics: Sequence[Metric] = ()) -> str:
    return "\n".join(map(as_markdown, tables_of(results, metrics=metrics)))


@pytest.fixture(autouse=True)
def _known_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


def _shown(summaries: tuple[ArmSummary, ...], monkeypatch: pytest.MonkeyPatch, *, width: int) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    terminal = Terminal()
    show(table_of(summaries), terminal)
    return Text.from_ansi(terminal.getvalue()).plain  # without colours


@pytest.mark.parametrize(("name", "summaries"), [("compared", COMPARED), ("clean", CLEAN), ("failed", FAILED)])
def test_the_markdown_report(name: str, summaries: tuple[ArmSummary, ...]) -> None:
    assert _in_markdown(summaries) == (GOLDEN / f"report_{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "width"), [("wide", 140), ("narrow", 80)])
def test_the_report_on_a_terminal(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = _shown(COMPARED, monkeypatch, width=width)
    assert shown == (GOLDEN / f"report_{name}.txt").read_text(encoding="utf-8")
    assert max(map(len, shown.splitlines())) <= width


def test_partly_right_answers_have_their_mean_score_first() -> None:
    rows = [row.model_copy(update={"score": 0.75}) for row in rows_of("++++")]
    head, _, line, *_ = _in_markdown([summarise_rows("retrieval", [*rows[:3], *rows_of("-")])]).splitlines()
    assert [cell.strip() for cell in head.split("|")[1:5]] == ["mode", "n", "mean score", "its 95 %"]
    assert [cell.strip() for cell in line.split("|")[2:4]] == ["4", "56.2 %"]


def test_a_pipe_gets_markdown() -> None:
    pipe = io.StringIO()
    show(table_of(COMPARED), pipe)
    assert pipe.getvalue() == _in_markdown(COMPARED)


def test_a_report_without_arms_is_its_head() -> None:
    assert _in_markdown(()).startswith("| mode |  n |")


def test_names_are_not_read_as_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = _shown((summarise_rows("[bold]k8[/bold]", rows_of("+")),), monkeypatch, width=140)
    assert "[bold]k8[/bold]" in shown


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (figures.points(0.125), "+12.5"),
        (figures.points(-0.05), "−5.0"),
        (figures.points(0.0), "0.0"),
        (figures.signed_span(-0.1, 0.25), "−10.0 to +25.0"),
        (figures.signed_span(None, None), "–"),
        (figures.probability(0.0004), "< 0.001"),
        (figures.probability(0.0312), "0.031"),
        (figures.money(0.0), "$0.0000"),
        (figures.money(-0.5), "−$0.5000"),
        (figures.money(0.0000514), "$0.000051"),
        (figures.count(1234.0), "1,234"),
        (figures.count(2.5), "2.5"),
        (figures.whole(-118.4), "−118"),
        (figures.rounded(-1234.567), "−1,234.57"),
        (figures.rounded(None), "–"),
    ],
)
def test_numbers_as_people_read_them(shown: str, text: str) -> None:
    assert shown == text


CHEAP = {"prompt_tokens": 60, "completion_tokens": 4, "model_calls": 1, "cost_usd": 0.0001, "seconds": 0.5}
DEAR = CHEAP | {"prompt_tokens": 400, "cached_tokens": 300, "model_calls": 2, "cost_usd": 0.0006, "bullets": 1}
METRICS = tuple(map(Metric.parse, ("accuracy@last-5", "tokens/gained-point")))


def written(path: Path, arm: str, rows: Sequence[Row]) -> None:
    """A memory that learnt a bullet from every right answer and tags the first one."""
    path.parent.mkdir(parents=True)
    with closing(SqliteStore(path)) as store:
        for row in rows:
            learnt = Add(draft=Draft(content=f"Advice {row.id}")) if row.correct else None
            operations = (learnt,) if learnt else (Tag(id="misc-00001", helpful=2, harmful=1),)
            store.commit("default", Change(at=NOON, cause="turn", turn_id=f"{arm}:{row.id}", operations=operations))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunResult:
    """One run of three arms; the memory of one of them is there."""
    monkeypatch.chdir(tmp_path)
    arms = {
        "default": rows_of("+---+-----!-", **CHEAP),
        "retrieval": rows_of("+-+++-++-+++", **DEAR),
        "placebo": rows_of("-+--+-~-~---", **DEAR),
    }
    written(Path("runs/letters/arms/retrieval/memory.db"), "retrieval", arms["retrieval"])
    return run_of(arms, folder=Path("runs/letters"))


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[RunResult]:
    """Two tasks in two orders each, without their memories."""
    monkeypatch.chdir(tmp_path)
    marks = {"letters": ("+--+-", "++++-", "--+--", "+-++!"), "sums": ("-----", "-----", "-----", "--+--")}
    return [
        run_of(
            {"default": rows_of(default, **CHEAP), "cumulative": rows_of(cumulative, **DEAR)},
            seed=seed,
            task=task,
            folder=Path("runs") / f"{task}-{seed}",
        )
        for task, found in marks.items()
        for seed, default, cumulative in ((1, *found[:2]), (2, *found[2:]))
    ]


def test_the_report_of_a_run(run: RunResult) -> None:
    """N05: what failed stands below the comparison."""
    assert _all_in_markdown([run], metrics=METRICS) == (GOLDEN / "report_run.txt").read_text(encoding="utf-8")


def test_the_report_of_several_runs(runs: list[RunResult]) -> None:
    assert _all_in_markdown(runs) == (GOLDEN / "report_runs.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [80, 120])
def test_the_report_of_runs_fits_a_terminal(
    runs: list[RunResult], run: RunResult, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    terminal = Terminal()
    show_results([run], terminal)
    show_results(runs, terminal)
    lines = Text.from_ansi(terminal.getvalue()).plain.splitlines()
    assert max(map(len, lines)) <= width
    assert sum("against default" in line for line in lines) == 2


def test_a_run_of_one_arm_is_compared_with_nothing() -> None:
    alone = _all_in_markdown([run_of({"default": rows_of("+-")})])
    assert "against" not in alone
    assert alone.startswith("| mode    |  n |")


def test_an_answer_that_is_partly_right_shows_its_score() -> None:
    rows = [rows_of("+")[0], rows_of("--")[1].model_copy(update={"score": 0.5})]
    shown = _in_markdown([summarise_rows("default", rows)])
    assert "score" in shown
    assert "75.0 %" in shown


def test_a_budget_that_ran_low_is_told() -> None:
    assert "2 of the answers were given in a cheaper mode" in _in_markdown([summarise_rows("a", rows_of("+~~"))])


def test_the_json_of_one_run_is_a_list_of_its_arms(run: RunResult) -> None:
    """Programs read the keys of `ArmSummary.as_dict` there; everything else is new keys."""
    found = as_json([run])
    assert isinstance(found, list)
    for arm, told in zip(run.arms, found, strict=True):
        assert told.items() >= summarise_rows(arm.arm.name, arm.rows).as_dict().items()
    default, retrieval, placebo = json.loads(json.dumps(found))
    assert default["against"] is None
    assert (retrieval["against"]["baseline"], retrieval["against"]["pairs"]) == ("default", 11)
    assert retrieval["metrics"]["tokens/gained-point"] == retrieval["against"]["tokens_per_point"]
    assert (retrieval["memory"]["bullets"], retrieval["memory"]["problem"]) == (9, "")
    assert "is missing" in placebo["memory"]["problem"]
    assert placebo["cheaper"] == placebo["against"]["cheaper"] == 2
    assert sum(point["n"] for point in retrieval["curve"]) == 12


def test_the_json_of_several_runs_has_each_run_and_all_together(runs: list[RunResult]) -> None:
    found = json.loads(json.dumps(as_json(runs)))
    assert isinstance(found, dict)
    assert [(run["task"], run["seed"]) for run in found["runs"]] == [
        ("letters", 1),
        ("letters", 2),
        ("sums", 1),
        ("sums", 2),
    ]
    assert [[arm["mode"] for arm in run["arms"]] for run in found["runs"]] == [["default", "cumulative"]] * 4
    assert [(one["task"], one["arm"], one["n"]) for one in found["pooled"]][:2] == [
        ("letters", "default", 10),
        ("letters", "cumulative", 10),
    ]
    assert [one["task"] for one in found["comparisons"]] == ["letters", "sums"]
