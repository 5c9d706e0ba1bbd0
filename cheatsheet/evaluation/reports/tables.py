"""The tables of a report beside that of the arms: over several orders, against a baseline, of the memory, by metric."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from cheatsheet.evaluation.metrics.metric import Metric
from cheatsheet.evaluation.metrics.paired import Comparison
from cheatsheet.evaluation.metrics.pairing import Failure
from cheatsheet.evaluation.reports.accounts import ArmAccount
from cheatsheet.evaluation.reports.figures import (
    UNKNOWN,
    cost,
    count,
    money,
    percent,
    points,
    probability,
    rounded,
    signed_span,
    span,
    whole,
)
from cheatsheet.evaluation.table import Table
from cheatsheet.llm.model import Usage

_LISTED = 3


class Column(NamedTuple):
    """One column of a table of accounts."""

    title: str
    cell: Callable[[ArmAccount], str]


def pooled_table(accounts: Sequence[ArmAccount]) -> Table:
    """The arms over all orders of their questions, one row an arm."""
    scores = _SCORE if partly_right(accounts) else ()
    errors = (_ERRORS,) if any(account.pooled.errors for account in accounts) else ()
    columns = (*_ASKED, *scores, *_RIGHT, *_TAKEN, *errors)
    return _table("mode", accounts, columns, tuple(_pooled_notes(accounts)))


def comparison_table(accounts: Sequence[ArmAccount]) -> Table | None:
    """The arms against their baseline; None where there is nothing to compare."""
    compared = [account for account in accounts if account.comparison is not None]
    comparisons = [account.comparison for account in compared if account.comparison is not None]
    if not comparisons:
        return None
    baselines = sorted({comparison.baseline for comparison in comparisons})
    partly = partly_right(accounts)
    columns = (_PAIRS, *(_SCORE_COMPARED if partly else ()), *_COMPARED)
    notes = tuple(_comparison_notes(comparisons, partly=partly))
    return _table(f"against {', '.join(baselines)}", compared, columns, notes)


def memory_table(accounts: Sequence[ArmAccount]) -> Table | None:
    """The health of the memories in the end; None where none of them holds anything."""
    kept = [account for account in accounts if account.mean_health("made") or account.mean_health("experiences")]
    return _table("memory of", kept, _HEALTH, tuple(_memory_notes(kept))) if kept else None


def metric_table(accounts: Sequence[ArmAccount], metrics: Sequence[Metric]) -> Table | None:
    """Metrics of the reader's choice, by their names; None where there are none."""
    if not metrics:
        return None
    columns = tuple(Column(str(metric), _metric_cell(metric)) for metric in metrics)
    return _table("metrics of", accounts, columns, (_MEANS,) if _several(accounts) else ())


def partly_right(accounts: Sequence[ArmAccount]) -> bool:
    """Whether an answer has a score between 0 and 1, so that the mean score says more than the accuracy."""
    return any(account.pooled.partly_right for account in accounts)


def problems_of(accounts: Sequence[ArmAccount]) -> tuple[str, ...]:
    """Why memories cannot be read, one sentence each; of many, the first ones and how many more there are."""
    found = [course.problem for account in accounts for course in account.courses if course.problem]
    more = len(found) - _LISTED
    return (*found[:_LISTED], *((f"{more} more memories cannot be read.",) if more > 0 else ()))


def _table(title: str, accounts: Sequence[ArmAccount], columns: Sequence[Column], notes: tuple[str, ...]) -> Table:
    named = (*_names(title, accounts), *columns)
    rows = (tuple(column.cell(account) for column in named) for account in accounts)
    return Table((tuple(column.title for column in named), *rows), notes)


def _names(title: str, accounts: Sequence[ArmAccount]) -> Iterator[Column]:
    """The columns that say what a row is about; task and model where there are several."""
    yield Column(title, lambda account: account.pooled.arm)
    if len({account.pooled.task for account in accounts}) > 1:
        yield Column("task", lambda account: account.pooled.task)
    if len({account.pooled.model for account in accounts}) > 1:
        yield Column("model", lambda account: account.pooled.model)


def _of(cell: Callable[[Comparison], str]) -> Callable[[ArmAccount], str]:
    """The cell of an account that has a comparison."""
    return lambda account: cell(account.comparison) if account.comparison is not None else ""


def _accuracy(account: ArmAccount) -> str:
    return "no score" if account.pooled.accuracy is None else percent(account.pooled.accuracy)


def _cost(account: ArmAccount) -> str:
    if not account.pooled.n:
        return UNKNOWN
    summaries = account.pooled.summaries
    return cost(sum((Usage(cost_usd=one.cost_usd, cost_complete=one.cost_complete) for one in summaries), Usage()))


def _metric_cell(metric: Metric) -> Callable[[ArmAccount], str]:
    return lambda account: rounded(account.mean_metric(metric))


_SCORE = (
    Column("mean score", lambda account: percent(account.pooled.score)),
    Column("its 95 %", lambda account: span(account.pooled.score_low, account.pooled.score_high)),
)
_ERRORS = Column("errors", lambda account: str(account.pooled.errors))
_ASKED = (
    Column("runs", lambda account: str(account.pooled.runs)),
    Column("n", lambda account: f"{account.pooled.n:,}"),
)
_RIGHT = (
    Column("accuracy", _accuracy),
    Column("95 % interval", lambda account: span(account.pooled.low, account.pooled.high)),
    Column("spread", lambda account: percent(account.pooled.spread)),
    Column("2nd half", lambda account: percent(account.pooled.mean("accuracy_second_half"))),
)
_TAKEN = (
    Column("prompt tok/q", lambda account: whole(account.pooled.mean("prompt_tokens_per_question"))),
    Column("cached", lambda account: percent(account.pooled.mean("cached_share"))),
    Column("cost", _cost),
    Column("s/q", lambda account: rounded(account.pooled.mean("seconds_per_question"))),
)
_PAIRS = Column("pairs", _of(lambda comparison: f"{comparison.pairs:,}"))
_SCORE_COMPARED = (
    Column("mean score", _of(lambda comparison: points(comparison.score_difference))),
    Column("its 95 %", _of(lambda comparison: signed_span(comparison.score_low, comparison.score_high))),
)
_COMPARED = (
    Column("difference", _of(lambda comparison: points(comparison.difference))),
    Column("95 % interval", _of(lambda comparison: signed_span(comparison.low, comparison.high))),
    Column("b / c", _of(lambda comparison: f"{comparison.only_arm} / {comparison.only_baseline}")),
    Column("p", _of(lambda comparison: probability(comparison.p))),
    Column("p (Holm)", _of(lambda comparison: probability(comparison.p_holm))),
    Column("tok/point", _of(lambda comparison: whole(comparison.tokens_per_point))),
    Column("cost/point", _of(lambda comparison: money(comparison.cost_usd_per_point))),
)
_HEALTH = (
    Column("bullets", lambda account: count(account.mean_health("bullets"))),
    Column("per question", lambda account: rounded(account.mean_health("growth"))),
    Column("used", lambda account: percent(account.mean_health("used_share"))),
    Column("utility", lambda account: percent(account.mean_health("utility"))),
    Column("merges", lambda account: count(account.mean_health("merges"))),
    Column("archived", lambda account: count(account.mean_health("archived"))),
    Column("refused", lambda account: count(account.mean_health("refused"))),
    Column("hits", lambda account: percent(account.mean_health("hit_rate"))),
    Column("right hits", lambda account: percent(account.mean_health("right_shown_rate"))),
)

_MEANS = "Means over the runs."

SCORE_NOTE = "Mean score over n, as answers can be partly right; a failed call has 0. Right is a score of 50 % or more."


def _several(accounts: Sequence[ArmAccount]) -> bool:
    return any(len(account.streams) > 1 for account in accounts)


def _pooled_notes(accounts: Sequence[ArmAccount]) -> Iterator[str]:
    yield "Accuracy over n answers of all runs; a run is one order of the questions."
    if _several(accounts):
        yield "95 % interval: bootstrap over whole questions, with their answers in all runs; Wilson for a single run."
        yield "Spread: standard deviation of the accuracy between the runs. The other columns are means; cost is a sum."
    else:
        yield "95 % interval: Wilson."
    if partly_right(accounts):
        yield SCORE_NOTE
    if any(account.pooled.low is None and account.pooled.accuracy is not None for account in accounts):
        yield "–: all questions went alike, so that there is nothing to draw from."
    if any(account.pooled.errors for account in accounts):
        yield "Errors are calls that did not come back; they are among n and count as wrong."


def _comparison_notes(comparisons: Sequence[Comparison], *, partly: bool) -> Iterator[str]:
    yield "Difference in percentage points, on the questions that both answered in the same run; paired bootstrap."
    yield f"b / c: pairs that the arm alone, and the baseline alone, got right. p: {_test(comparisons)}."
    if partly:
        yield "Mean score: difference in points of 100, on the same questions, with its interval by the same bootstrap."
    if comparisons[0].family > 1:
        yield f"p (Holm): corrected for the {comparisons[0].family} comparisons of this report."
    yield "tok/point, cost/point: what one pass takes more than the baseline's, for each percentage point gained."
    if any(comparison.low is None or comparison.cost_usd_per_point is None for comparison in comparisons):
        yield "–: no such number, as nothing was gained, no price is known, or all questions went alike."
    yield from _all_left_out(comparisons)


def _all_left_out(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """What is not compared; arms of which the same is told are named together."""
    tasks = {comparison.task for comparison in comparisons}
    arms: dict[str, list[str]] = defaultdict(list)
    for comparison in comparisons:
        arm = comparison.arm if len(tasks) == 1 else f"{comparison.task}, {comparison.arm}"
        for told in _left_out(comparison):
            arms[told].append(arm)
    return (f"{', '.join(named)}: {told}" for told, named in arms.items())


def _test(comparisons: Sequence[Comparison]) -> str:
    names = {
        "mcnemar": "exact McNemar test",
        "sign-flip": "sign-flip test over questions, since the pairs of one question are not independent",
    }
    return "; ".join(names[test] for test in dict.fromkeys(comparison.test for comparison in comparisons))


def _left_out(comparison: Comparison) -> Iterator[str]:
    if comparison.failures:
        yield f"not compared, since a call failed: {_listed(comparison.failures)}."
    if comparison.cheaper:
        yield f"{comparison.cheaper} not compared, asked in a cheaper mode as a budget ran low."
    if comparison.unpaired:
        yield f"{comparison.unpaired} not compared, asked under one of the two only."


def _listed(failures: Sequence[Failure]) -> str:
    told = ", ".join(f"{failure.question!r} ({failure.arm})" for failure in failures[:_LISTED])
    more = len(failures) - _LISTED
    return f"{told} and {more} more" if more > 0 else told


def _memory_notes(accounts: Sequence[ArmAccount]) -> Iterator[str]:
    yield "Used: bullets shown at least once, of all ever made. Utility: helpful of all helpful and harmful tags."
    yield "Hits: answered questions for which the memory showed something; right hits: an experience with the target."
    yield "Refused: proposals that were left out in learning, as a rule or a check was against them."
    if _several(accounts):
        yield _MEANS
