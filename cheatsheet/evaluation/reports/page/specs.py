"""Charts as Vega-Lite specifications, made with Altair. Colours are those of the page's style sheet, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from cheatsheet.evaluation.reports.page.styles import Style

if TYPE_CHECKING:
    import altair as alt

Values = Sequence[Mapping[str, Any]]
"""What is drawn, one mark each; an interval that is not known has None at its ends."""

Spec = Mapping[str, Any]
Styles = Mapping[str, Style]
"""Of the arms that a chart shows, in their order."""

_ROW = 34
_LOWEST, _USUAL = 96, 260


def ranges(values: Values, *, title: str, styles: Styles, around_zero: bool = False) -> Spec:
    """One line an arm: a point, and the interval around it.

    Args:
        values: `arm`, `value`, `low` and `high`; percent, or points where they are `around_zero`.
    """
    import altair as alt

    axis = alt.Axis(ticks=False, domain=False, labelPadding=8)
    scale = alt.Undefined if around_zero else alt.Scale(domain=[0, 100])
    base = alt.Chart().encode(
        y=alt.Y("arm:N", sort=list(styles), title=None, axis=axis),
        color=_colour(styles),
        tooltip=_tips(arm="arm", value=title, low="from", high="to"),
    )
    bars = base.mark_rule(strokeWidth=4, opacity=0.45, strokeCap="round").encode(
        x=alt.X("low:Q", title=title, scale=scale), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=110, opacity=1).encode(
        x=alt.X("value:Q", title=title), shape=_shape(styles)
    )
    zero = [_chart([{"zero": 0}]).mark_rule(strokeWidth=1.5).encode(x="zero:Q")] if around_zero else []
    layers = alt.layer(*zero, *_over(values, bars, dots))
    return _as_wide_as_its_place(layers, height=max(_LOWEST, _ROW * len(styles)))


def lines(
    values: Values,
    *,
    title: str,
    styles: Styles,
    tips: Mapping[str, str],
    interpolate: Literal["linear", "step-after"],
    each: str = "",
) -> Spec:
    """What became of the arms along the stream.

    Args:
        values: `arm`, `question` (so many were asked) and `value`.
        tips: further fields that are shown under the pointer, with their titles.
        each: a field for each of whose values an arm has a line of its own.
    """
    import altair as alt

    dashes = alt.Scale(domain=list(styles), range=[list(style.dash) for style in styles.values()])
    chart = (
        _chart(values)
        .mark_line(strokeWidth=2.25, interpolate=interpolate, point={"filled": True, "size": 30} if not each else False)
        .encode(
            x=alt.X(
                "question:Q",
                title="questions so far",
                scale=alt.Scale(zero=True),
                axis=alt.Axis(tickMinStep=1, grid=False),
            ),
            y=alt.Y("value:Q", title=title, axis=alt.Axis(tickCount=5)),
            color=_colour(styles),
            strokeDash=alt.StrokeDash("arm:N", legend=None, scale=dashes),
            tooltip=_tips(arm="arm", value=title, question="questions so far", **tips),
        )
    )
    return _as_wide_as_its_place(chart.encode(detail=f"{each}:N") if each else chart)


def scatter(values: Values, *, x_title: str, y_title: str, styles: Styles) -> Spec:
    """Arms by what they take and what they reach.

    Args:
        values: `arm`, `taken`, `value`, `low` and `high`; all but `taken` in percent.
    """
    import altair as alt

    base = alt.Chart().encode(
        x=alt.X("taken:Q", title=x_title, axis=alt.Axis(tickCount=5)),
        color=_colour(styles),
        tooltip=_tips(arm="arm", taken=x_title, value=y_title, low="from", high="to"),
    )
    bars = base.mark_rule(strokeWidth=3, opacity=0.4, strokeCap="round").encode(
        y=alt.Y("low:Q", title=y_title, scale=alt.Scale(domain=[0, 100])), y2="high:Q"
    )
    dots = base.mark_point(filled=True, size=130, opacity=1).encode(
        y=alt.Y("value:Q", title=y_title), shape=_shape(styles)
    )
    return _as_wide_as_its_place(alt.layer(*_over(values, bars, dots)))


def _over(values: Values, bars: alt.Chart, dots: alt.Chart) -> list[alt.Chart]:
    """The dots over the bars of those intervals that are known."""
    known = [value for value in values if value["low"] is not None and value["high"] is not None]
    return [chart.properties(data=_data(data)) for chart, data in ((bars, known), (dots, values)) if data]


def _data(values: Values) -> alt.InlineData:
    import altair as alt

    return alt.InlineData(values=[dict(value) for value in values])


def _chart(values: Values) -> alt.Chart:
    import altair as alt

    return alt.Chart(_data(values))


def _colour(styles: Styles) -> alt.Color:
    import altair as alt

    scale = alt.Scale(domain=list(styles), range=[style.colour for style in styles.values()])
    return alt.Color("arm:N", legend=None, scale=scale)


def _shape(styles: Styles) -> alt.Shape:
    import altair as alt

    scale = alt.Scale(domain=list(styles), range=[style.shape for style in styles.values()])
    return alt.Shape("arm:N", legend=None, scale=scale)


def _tips(**titles: str) -> list[alt.Tooltip]:
    """What is shown under the pointer: fields with their titles. A field may be a number or a text."""
    import altair as alt

    return [alt.Tooltip(field, type="nominal", title=title) for field, title in titles.items()]


def _as_wide_as_its_place(chart: alt.Chart | alt.LayerChart | alt.FacetChart, *, height: int = _USUAL) -> Spec:
    sized: dict[str, Any] = chart.properties(width="container", height=height).to_dict()
    return sized | {"autosize": {"type": "fit-x", "contains": "padding"}}
