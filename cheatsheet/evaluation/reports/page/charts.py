"""The charts of a group, each with the same in words and in numbers for whoever does not see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cheatsheet.evaluation.metrics.curve import CurvePoint, mean_curve
from cheatsheet.evaluation.metrics.health import MemoryCourse
from cheatsheet.evaluation.reports.accounts import ArmAccount
from cheatsheet.evaluation.reports.figures import count, money, percent, points, span, whole
from cheatsheet.evaluation.reports.page import specs
from cheatsheet.evaluation.reports.page.content import Group, order_of
from cheatsheet.evaluation.reports.page.costs import cost_per_question, tokens_per_question
from cheatsheet.evaluation.reports.page.specs import Spec, Styles
from cheatsheet.evaluation.reports.page.styles import Style
from cheatsheet.evaluation.reports.page.wording import counted, listed
from cheatsheet.evaluation.reports.tables import partly_right
from cheatsheet.evaluation.table import Table

_STEPS = 200
"""A line has at most about so many points: no screen shows more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart.

    Attributes:
        id: unique in the report.
        summary: one or two sentences.
        keyed: the arms whose colours the reader has to be told.
        spec: in Vega-Lite.
        numbers: what it shows.
    """

    id: str
    title: str
    summary: str
    keyed: tuple[str, ...]
    spec: Spec
    numbers: Table


def charts_of(group: Group, styles: Mapping[str, Style]) -> list[Chart]:
    """The charts of a group; one that would show nothing is left out."""
    makers: tuple[Callable[[Group, Styles], Chart | None], ...] = (
        _score,
        _accuracy,
        _difference,
        _curve,
        _cost,
        _course,
    )
    own = {arm: styles[arm] for arm in group.arms}
    return [chart for make in makers if (chart := make(group, own)) is not None]


def _accuracy(group: Group, styles: Styles) -> Chart | None:
    scored = _scored(group)
    if not scored:
        return None
    return Chart(
        id=f"{group.anchor}-accuracy",
        title="Accuracy",
        summary=f"Right answers, with 95 % intervals: {_told(scored, lambda one: percent(one.pooled.accuracy))}.",
        keyed=(),
        spec=specs.ranges(
            [_shares(one, one.pooled.accuracy, one.pooled.low, one.pooled.high) for one in scored],
            title="accuracy, %",
            styles=_only(styles, scored),
        ),
        numbers=_numbers(("arm", "accuracy", "95 % interval"), (_accuracy_cells(one) for one in scored)),
    )


def _score(group: Group, styles: Styles) -> Chart | None:
    scored = _scored(group)
    if not partly_right(scored):
        return None
    cells = (
        (one.pooled.arm, percent(one.pooled.score), span(one.pooled.score_low, one.pooled.score_high)) for one in scored
    )
    told = _told(scored, lambda one: percent(one.pooled.score))
    return Chart(
        id=f"{group.anchor}-score",
        title="Mean score",
        summary=f"Partly right answers count in part, with 95 % intervals: {told}.",
        keyed=(),
        spec=specs.ranges(
            [_shares(one, one.pooled.score, one.pooled.score_low, one.pooled.score_high) for one in scored],
            title="mean score, %",
            styles=_only(styles, scored),
        ),
        numbers=_numbers(("arm", "mean score", "95 % interval"), cells),
    )


def _difference(group: Group, styles: Styles) -> Chart | None:
    compared = [one for one in group.accounts if one.comparison is not None and one.comparison.difference is not None]
    if not compared:
        return None
    pairs = [(account, one) for account in compared if (one := account.comparison) is not None]
    told = listed([f"{one.arm} {points(one.difference)}" for _, one in pairs])
    return Chart(
        id=f"{group.anchor}-difference",
        title=f"Difference to {group.baseline_name}",
        summary=f"Points on the same questions; what crosses 0 may be chance: {told}.",
        keyed=(),
        spec=specs.ranges(
            [_shares(account, one.difference, one.low, one.high) for account, one in pairs],
            title=f"points more than {group.baseline_name}",
            styles=_only(styles, compared),
            around_zero=True,
        ),
        numbers=_numbers(
            ("arm", "points", "from", "to"),
            ((one.arm, points(one.difference), points(one.low), points(one.high)) for _, one in pairs),
        ),
    )


def _curve(group: Group, styles: Styles) -> Chart | None:
    scored = _scored(group)
    along = [(one.pooled.arm, point) for one in scored for point in mean_curve(_rows(one))]
    if not along:
        return None
    titles = ("arm", "questions so far", "right so far", "95 % interval", "block", "right in the block")
    return Chart(
        id=f"{group.anchor}-curve",
        title="Learning curve",
        summary="Share of right answers from the first question on; it rises where the memory learns from the stream.",
        keyed=tuple(account.pooled.arm for account in scored),
        spec=specs.lines(
            [_on_curve(*each) for each in along],
            title="right so far, %",
            styles=_only(styles, scored),
            tips={"block": "last block"},
            interpolate="linear",
        ),
        numbers=_numbers(titles, (_curve_cells(*each) for each in along)),
    )


def _on_curve(arm: str, point: CurvePoint) -> dict[str, Any]:
    block = f"{point.correct} of {point.n} right in {point.first}–{point.last}"
    return {"arm": arm, "question": point.last, "value": _hundredfold(point.cumulative), "block": block}


def _curve_cells(arm: str, point: CurvePoint) -> tuple[str, ...]:
    return (
        arm,
        whole(point.last),
        percent(point.cumulative),
        span(point.cumulative_low, point.cumulative_high),
        f"{point.first}–{point.last}",
        f"{point.correct} of {point.n}",
    )


def _cost(group: Group, styles: Styles) -> Chart | None:
    scored = _scored(group)
    if not scored:
        return None
    costs = [cost_per_question(one) for one in scored]
    paid = None not in costs and any(costs)
    measure, shown = (cost_per_question, money) if paid else (tokens_per_question, whole)
    title = "US dollars a question" if paid else "tokens a question"
    told = _told(scored, lambda one: shown(measure(one)))
    why = "" if paid else " Tokens stand for the cost, as no price is known for all arms, or none has one."
    return Chart(
        id=f"{group.anchor}-cost",
        title="Cost against accuracy",
        summary=f"Right and cheap is top left. In {title}: {told}.{why}",
        keyed=tuple(account.pooled.arm for account in scored),
        spec=specs.scatter(
            [
                _shares(one, one.pooled.accuracy, one.pooled.low, one.pooled.high) | {"taken": _short(measure(one))}
                for one in scored
            ],
            x_title=title,
            y_title="accuracy, %",
            styles=_only(styles, scored),
        ),
        numbers=_numbers(
            ("arm", "accuracy", "95 % interval", title),
            ((*_accuracy_cells(one), shown(measure(one))) for one in scored),
        ),
    )


def _course(group: Group, styles: Styles) -> Chart | None:
    learning = [account for account in group.accounts if account.mean_health("made")]
    values = [value for account in learning for value in _bullets(account)]
    if not values:
        return None
    told = _told(learning, lambda one: count(one.mean_health("bullets")))
    lines = len({value["order"] for value in values})
    orders = f" One line for each of {counted(lines, 'order')}." if lines > 1 else ""
    return Chart(
        id=f"{group.anchor}-course",
        title="Memory over time",
        summary=f"Active bullets after each question; in the end {told}.{orders}",
        keyed=tuple(account.pooled.arm for account in learning),
        spec=specs.lines(
            values,
            title="active bullets",
            styles=_only(styles, learning),
            tips={"order": "order", "changes": "changes since the last point"},
            interpolate="step-after",
            each="order",
        ),
        numbers=_numbers(
            ("arm", "order", "questions so far", "active bullets", "changes since the row above"),
            (
                (value["arm"], value["order"], *(whole(value[name]) for name in ("question", "value", "changes")))
                for value in values
            ),
        ),
    )


def _bullets(account: ArmAccount) -> Iterator[dict[str, Any]]:
    for (run, _), course in zip(account.streams, account.courses, strict=True):
        for point in _thinned(course):
            yield {"arm": account.pooled.arm, "order": order_of(run), **point}


def _thinned(course: MemoryCourse) -> Iterator[dict[str, int]]:
    steps = sorted(course.steps, key=lambda step: step.position)
    every = max(1, len(steps) // _STEPS)
    changes = 0
    for place, step in enumerate(steps, start=1):
        changes += len(step.operations)
        if place % every == 0 or place == len(steps):
            yield {"question": step.position + 1, "value": step.bullets, "changes": changes}
            changes = 0


def _scored(group: Group) -> list[ArmAccount]:
    return [account for account in group.accounts if account.pooled.accuracy is not None]


def _rows(account: ArmAccount) -> list[tuple[Any, ...]]:
    return [arm.rows for _, arm in account.streams]


def _only(styles: Styles, accounts: list[ArmAccount]) -> Styles:
    return {account.pooled.arm: styles[account.pooled.arm] for account in accounts}


def _shares(account: ArmAccount, value: float | None, low: float | None, high: float | None) -> dict[str, Any]:
    shares = {"value": _hundredfold(value), "low": _hundredfold(low), "high": _hundredfold(high)}
    return {"arm": account.pooled.arm, **shares}


def _accuracy_cells(account: ArmAccount) -> tuple[str, ...]:
    pooled = account.pooled
    return pooled.arm, percent(pooled.accuracy), span(pooled.low, pooled.high)


def _told(accounts: list[ArmAccount], value: Callable[[ArmAccount], str]) -> str:
    return listed([f"{account.pooled.arm} {value(account)}" for account in accounts])


def _numbers(titles: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Table:
    return Table((titles, *rows))


def _hundredfold(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 1)


def _short(value: float | None) -> float | None:
    """With as many digits as are worth reading."""
    return None if value is None else float(f"{value:.4g}")
