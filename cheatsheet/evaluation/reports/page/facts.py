"""The answer in four numbers, for the first screen."""

from __future__ import annotations

from dataclasses import dataclass

from cheatsheet.evaluation.metrics.paired import Comparison
from cheatsheet.evaluation.reports.accounts import ArmAccount
from cheatsheet.evaluation.reports.figures import money, percent, points, probability, whole
from cheatsheet.evaluation.reports.page.conclusions import Conclusion
from cheatsheet.evaluation.reports.page.content import Group
from cheatsheet.evaluation.reports.page.costs import cost_per_question, tokens_per_question
from cheatsheet.evaluation.reports.page.wording import counted, times, trimmed


@dataclass(frozen=True, slots=True)
class Fact:
    """A number with its name, and what puts it into proportion."""

    name: str
    value: str
    detail: str


def facts_of(group: Group, conclusion: Conclusion) -> tuple[Fact, ...]:
    """How much, how sure, at what cost, from how many questions; nothing where no memory is compared."""
    best, baseline = conclusion.best, group.baseline
    if best is None or best.comparison is None or baseline is None:
        return ()
    return (
        _how_much(best, baseline, best.comparison),
        _how_sure(best.comparison),
        _at_what_cost(best, baseline),
        _from_what(group, best.comparison),
    )


def _how_much(best: ArmAccount, baseline: ArmAccount, compared: Comparison) -> Fact:
    shares = f"{compared.arm} {percent(best.pooled.accuracy)}, {compared.baseline} {percent(baseline.pooled.accuracy)}"
    return Fact("How much", f"{points(compared.difference)} points", shares)


def _how_sure(compared: Comparison) -> Fact:
    low, high = compared.low, compared.high
    p = probability(compared.p_holm)
    told = f"p {p if p.startswith('<') else f'= {p}'}"
    if low is None or high is None:
        return Fact("How sure", "no interval", f"all questions went alike; {told}")
    return Fact("How sure", f"{trimmed(low)} to {trimmed(high)}", f"points, 95 % interval; {told}")


def _at_what_cost(best: ArmAccount, baseline: ArmAccount) -> Fact:
    name = baseline.pooled.arm
    spent, before = cost_per_question(best), cost_per_question(baseline)
    if ratio := times(spent, before):
        return Fact("At what cost", ratio, f"the price: {money(spent)} a question, {name} {money(before)}")
    tokens, fewer = tokens_per_question(best), tokens_per_question(baseline)
    detail = f"{whole(tokens)} a question, {name} {whole(fewer)}"
    ratio = times(tokens, fewer)
    return Fact("At what cost", ratio or "tokens", f"the tokens: {detail}" if ratio else detail)


def _from_what(group: Group, compared: Comparison) -> Fact:
    detail = f"{counted(compared.runs, 'order')}, {counted(len(group.arms), 'arm')}, {group.model or 'no model'}"
    return Fact("From what", counted(compared.questions, "question"), detail)
