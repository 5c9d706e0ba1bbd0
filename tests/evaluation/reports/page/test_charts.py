"""Charts: valid Vega-Lite, and the same in words and in numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from cheatsheet.evaluation.reports.page.charts import Chart, charts_of
from cheatsheet.evaluation.reports.page.content import Report, report_of
from cheatsheet.evaluation.reports.page.styles import COLOURS, styles_of
from cheatsheet.evaluation.runs.reading import find_runs
from tests.evaluation.reports.page import worlds
from tests.evaluation.reports.page.worlds import stream

pytest.importorskip("altair", reason="charts need the extra `report`")

TITLES = ["Accuracy", "Difference to default", "Learning curve", "Cost against accuracy", "Memory over time"]


def _charts(report: Report) -> dict[str, Chart]:
    styles = styles_of(report.arms, baseline="default")
    return {chart.title: chart for group in report.groups for chart in charts_of(group, styles)}


def _of(folder: Path) -> dict[str, Chart]:
    return _charts(report_of(find_runs([folder])))


def test_all_charts_of_a_comparison(three_orders: Report) -> None:
    charts = _charts(three_orders)
    assert list(charts) == TITLES
    assert len({chart.id for chart in charts.values()}) == len(TITLES)
    for chart in charts.values():
        assert chart.spec["width"] == "container"
        assert len(chart.numbers.cells) > 1
        assert chart.summary.endswith(".")


def test_words_and_numbers_say_what_is_drawn(three_orders: Report) -> None:
    charts = _charts(three_orders)
    assert charts["Accuracy"].summary == (
        "Right answers, with 95 % intervals: default 33.3 %, retrieval 96.7 %, full-history 0.0 % and random 60.0 %."
    )
    assert charts["Accuracy"].numbers.cells[1][:2] == ("default", "33.3 %")
    assert charts["Difference to default"].numbers.cells[1][:2] == ("retrieval", "+63.3")
    assert charts["Memory over time"].summary == (
        "Active bullets after each question; in the end retrieval 30, full-history 30 and random 30. "
        "One line for each of 3 orders."
    )
    assert charts["Memory over time"].keyed == ("retrieval", "full-history", "random")


def test_money_is_drawn_where_all_prices_are_known(tmp_path: Path) -> None:
    arms = {"default": stream("-+", cost_usd=0.001), "retrieval": stream("++", tokens=200, cost_usd=0.002)}
    worlds.write_run(tmp_path / "run", arms)
    chart = _of(tmp_path)["Cost against accuracy"]
    assert (
        chart.summary == "Right and cheap is top left. In US dollars a question: default $0.0010 and retrieval $0.0020."
    )


def test_a_chart_without_anything_to_show_is_left_out(tmp_path: Path) -> None:
    worlds.write_run(tmp_path / "run", {"default": stream("!!")})
    assert _of(tmp_path) == {}


def test_an_interval_that_is_not_known_is_not_drawn(tmp_path: Path) -> None:
    worlds.write_run(tmp_path / "run", {"default": stream("++"), "retrieval": stream("++", tokens=200)})
    layers = _of(tmp_path)["Difference to default"].spec["layer"]
    assert [layer["mark"]["type"] for layer in layers] == ["rule", "point"]  # zero, and the points


def test_long_streams_are_thinned_out(tmp_path: Path) -> None:
    worlds.write_run(tmp_path / "run", {"default": stream("-" * 500), "retrieval": stream("+" * 500, tokens=200)})
    cells = _of(tmp_path)["Memory over time"].numbers.cells[1:]
    assert 200 <= len(cells) <= 400
    assert cells[-1][2:4] == ("500", "500")
    assert sum(int(row[4]) for row in cells) == 500


def test_every_arm_is_told_apart() -> None:
    arms = [f"arm-{place}" for place in range(3 * COLOURS)]
    styles = styles_of(arms, baseline="arm-5")
    assert styles["arm-5"].colour == "var(--arm-0)"
    assert len(set(styles.values())) == len(arms)
