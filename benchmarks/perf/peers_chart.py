"""What `benchmarks.perf.peers` found, as a chart: milliseconds of a step against the number of bullets."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.perf.costs import Found
from benchmarks.perf.rivals.ours import RECALL, Ours
from cheatsheet.errors import MissingExtraError, TaskError

_OURS: Final = {Ours.name: "#0a6ab0", f"{Ours.name}: {RECALL}": "#5a9fd4"}
_OTHERS: Final = ("#6b7078", "#c65102", "#00805e", "#a8488a")
_GROUND, _INK, _GRID = "#ffffff", "#24292f", "#e4e7eb"
_WIDTH, _HEIGHT = 460, 340
_LINE: Final = 15
"""Pixels of height that a name takes."""


def check_chart(path: Path) -> None:
    """See whether a chart can be written to a file of that name; asked before anything is measured.

    Raises:
        MissingExtraError: the packages for charts are not installed.
        TaskError: another ending than .svg and .png.
    """
    if importlib.util.find_spec("altair") is None or importlib.util.find_spec("vl_convert") is None:
        raise MissingExtraError("A chart needs the extra `report` (in a clone: pip install '.[report]').")
    if path.suffix not in (".svg", ".png"):
        raise TaskError(f"A chart is an .svg or a .png file, not {path.name}.")


def write_chart(found: Found, path: Path) -> None:
    """Draw it into a file that `check_chart` accepts."""
    import altair as alt

    path.parent.mkdir(parents=True, exist_ok=True)
    chart: Any = alt.Chart.from_dict(chart_of(found))
    chart.save(str(path), scale_factor=2)


def chart_of(found: Found) -> dict[str, Any]:
    """The chart in Vega-Lite: both axes logarithmic, each line named at its end."""
    import altair as alt

    values = points_of(found)
    colours = _OURS | dict(zip((side for side in found.sides if side not in _OURS), _OTHERS, strict=False))
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    colour = alt.Color("side:N", legend=None, scale=scale)
    powers = _powers([value["ms"] for value in values])
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X(
            "bullets:Q",
            title="bullets in the memory",
            scale=alt.Scale(type="log", nice=False, padding=12),
            axis=alt.Axis(values=found.sizes, format=",", grid=False),
        ),
        y=alt.Y(
            "ms:Q",
            title="milliseconds for one step",
            scale=alt.Scale(type="log", domain=[powers[0], powers[-1]]),
            axis=alt.Axis(values=powers, format=",~r"),
        ),
        color=colour,
    )
    lines = base.mark_line(strokeWidth=2.25)
    dots = base.mark_point(filled=True, size=55, opacity=1).encode(
        shape=alt.Shape("kind:N", legend=None, scale=alt.Scale(domain=["measured", "≈"], range=["circle", "square"]))
    )
    ends = list({value["side"]: value for value in values}.values())
    named = (
        alt.Chart(alt.InlineData(values=_apart(ends, least=(powers[-1] / powers[0]) ** (_LINE / _HEIGHT))))
        .mark_text(align="left", dx=10, fontSize=12)
        .encode(x="bullets:Q", y="at:Q", text="label:N", color=colour)
    )
    chart: dict[str, Any] = (
        alt.layer(lines, dots, named)
        .properties(width=_WIDTH, height=_HEIGHT, padding=10)
        .configure(background=_GROUND)
        .configure_view(strokeWidth=0, clip=False)
        .configure_axis(
            gridColor=_GRID,
            domainColor=_GRID,
            tickColor=_GRID,
            labelColor=_INK,
            titleColor=_INK,
            titleFontWeight="normal",
        )
        .to_dict()
    )
    return chart


def points_of(found: Found) -> list[dict[str, Any]]:
    """What is drawn: every side at every size, and our `recall` beside our whole step; ours last, over the others."""
    points: list[dict[str, Any]] = [
        {"side": cost.side, "bullets": cost.bullets, "ms": cost.ms.p50, "kind": "≈" if cost.estimated else "measured"}
        for cost in found.costs
    ]
    for size in found.sizes:
        ms = found.ours(size).parts[RECALL]
        points.append({"side": f"{Ours.name}: {RECALL}", "bullets": size, "ms": ms, "kind": "measured"})
    return sorted(points, key=lambda point: point["side"] in _OURS)


def _powers(values: Sequence[float]) -> list[float]:
    """The powers of ten from below all values to above them."""
    lowest, highest = (math.floor(math.log10(end)) for end in (min(values), max(values)))
    return [10.0**power for power in range(lowest, highest + 2)]


def _apart(ends: Sequence[dict[str, Any]], *, least: float) -> list[dict[str, Any]]:
    """The names at the ends of the lines, each at least so many times as high as the one below."""
    named: list[dict[str, Any]] = []
    for end in sorted(ends, key=lambda value: value["ms"]):
        lowest = named[-1]["at"] * least if named else 0.0
        mark = " ≈" if end["kind"] == "≈" else ""
        named.append(end | {"at": max(end["ms"], lowest), "label": f"{end['side']}{mark}"})
    return named
