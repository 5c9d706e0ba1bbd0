"""What came of a comparison, in sentences made from its numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from cheatsheet.evaluation.controls.registry import CONTROLS
from cheatsheet.evaluation.metrics.paired import Comparison, compare_runs, corrected
from cheatsheet.evaluation.reports.accounts import ArmAccount
from cheatsheet.evaluation.reports.figures import percent, points, probability
from cheatsheet.evaluation.reports.page.content import Group
from cheatsheet.evaluation.reports.page.costs import cost_per_question, tokens_per_question
from cheatsheet.evaluation.reports.page.wording import counted, interval, listed, times, trimmed
from cheatsheet.evaluation.reports.tables import partly_right

SIGNIFICANT = 0.05
"""Below it, a p value counts: the counterpart of intervals of 95 %."""

LITTLE = 0.05
"""A difference whose whole interval is smaller is called little: 5 points."""


class Verdict(StrEnum):
    """Whether memory helps; each value is the headline that says so."""

    HELPS = "Memory helps here"
    NO_MORE_THAN_CONTROL = "Memory helps here, but perhaps no more than a control"
    HARMS = "Memory does harm here"
    LITTLE = "Memory makes little difference here"
    UNTOLD = "It cannot be told whether memory helps here"
    ALONE = "There is nothing to compare with"
    NO_SCORE = "There is no score"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What came of one group.

    Attributes:
        best: the memory that is spoken of, the one with the largest difference to the baseline; None where there is
            none.
        sentences: the first one says how much, how sure and at what cost.
    """

    verdict: Verdict
    best: ArmAccount | None
    sentences: tuple[str, ...]


def conclusion_of(group: Group) -> Conclusion:
    """Whether memory helps in a group, how much, how sure that is, and at what cost."""
    if all(account.pooled.accuracy is None for account in group.accounts):
        why = "No call came back: every question failed." if group.questions else "No question has been asked yet."
        return Conclusion(verdict=Verdict.NO_SCORE, best=None, sentences=(why,))
    best, baseline = _best(group), group.baseline
    if best is None or best.comparison is None or baseline is None:
        return _alone(group)
    compared = best.comparison
    controls = _controls(best, group) if is_better(compared) else []
    sentences = (
        _lead(best, baseline, compared),
        *_beside(controls),
        *_partly(best, baseline, compared),
        *_chance(compared),
        *_flattered(group),
        *_harmful(best, group),
        *_failed(compared),
    )
    return Conclusion(verdict=_verdict(compared, controls), best=best, sentences=sentences)


def headline(conclusions: Sequence[Conclusion]) -> str:
    """The answer to "does memory help?", over all groups in which there is one."""
    if len(conclusions) == 1:
        return str(conclusions[0].verdict)
    counts = Counter(conclusion.verdict for conclusion in conclusions)
    judged = len(conclusions) - counts[Verdict.NO_SCORE] - counts[Verdict.ALONE]
    if not judged:
        return "No comparison has a result"
    doubtful = counts[Verdict.NO_MORE_THAN_CONTROL]
    helped = counts[Verdict.HELPS] + doubtful
    said = [f"Memory helps in {helped} of {counted(judged, 'comparison')}"]
    if doubtful:
        said.append("perhaps no more than a control" + (f" in {doubtful} of them" if helped > 1 else ""))
    if counts[Verdict.HARMS]:
        said.append(f"does harm in {counts[Verdict.HARMS]}")
    if counts[Verdict.UNTOLD]:
        said.append(f"cannot be judged in {counts[Verdict.UNTOLD]}")
    return ", ".join(said)


def is_better(comparison: Comparison) -> bool:
    """Whether the arm beats its baseline beyond chance: by its interval, and by its p corrected for all comparisons."""
    return _certain(comparison) and (comparison.difference or 0.0) > 0


def is_worse(comparison: Comparison) -> bool:
    """Whether the baseline beats the arm beyond chance."""
    return _certain(comparison) and (comparison.difference or 0.0) < 0


def is_control(account: ArmAccount) -> bool:
    """Whether an arm shows no memory at all, or is a control that memory must beat."""
    mode = account.streams[0][1].arm.mode
    return mode == "default" or mode in CONTROLS


def _best(group: Group) -> ArmAccount | None:
    """The memory with the largest difference to the baseline; a control only where there is no memory."""
    known = [one for one in group.accounts if one.comparison is not None and one.comparison.difference is not None]
    memories = [account for account in known if not is_control(account)]
    return max(memories or known, key=_difference, default=None)


def _difference(account: ArmAccount) -> float:
    return (account.comparison.difference if account.comparison else None) or 0.0


def _certain(comparison: Comparison) -> bool:
    outside = comparison.low is None or comparison.high is None or not comparison.low <= 0 <= comparison.high
    return outside and comparison.p_holm is not None and comparison.p_holm < SIGNIFICANT


def _verdict(compared: Comparison, controls: Sequence[Comparison]) -> Verdict:
    if is_better(compared):
        return Verdict.HELPS if all(map(is_better, controls)) else Verdict.NO_MORE_THAN_CONTROL
    if is_worse(compared):
        return Verdict.HARMS
    known = compared.low is not None and compared.high is not None
    widest = max(abs(compared.low or 0.0), abs(compared.high or 0.0))
    return Verdict.LITTLE if known and widest < LITTLE else Verdict.UNTOLD


def _lead(best: ArmAccount, baseline: ArmAccount, compared: Comparison) -> str:
    difference = compared.difference or 0.0
    more = "more" if difference > 0 else "fewer"
    told = f"{trimmed(abs(difference))} points {more} than" if difference else "as many points as"
    n = f"n = {compared.questions:,}" + (f" in {compared.runs} orders" if compared.runs > 1 else "")
    sure = f"{interval(compared.low, compared.high)}, {n}"
    return f"{compared.arm} scores {told} {compared.baseline} ({sure}), {_at_what_cost(best, baseline)}."


def _at_what_cost(best: ArmAccount, baseline: ArmAccount) -> str:
    if paid := times(cost_per_question(best), cost_per_question(baseline)):
        return f"at {paid} the cost"
    tokens = times(tokens_per_question(best), tokens_per_question(baseline))
    return f"at {tokens} the tokens" if tokens else "at a cost that is not known"


def _partly(best: ArmAccount, baseline: ArmAccount, compared: Comparison) -> list[str]:
    """The mean scores, where answers can be partly right."""
    if not partly_right([best, baseline]) or compared.score_difference is None:
        return []
    scores = f"{compared.arm} {percent(best.pooled.score)}, {compared.baseline} {percent(baseline.pooled.score)}"
    more = f"{points(compared.score_difference)} points, {interval(compared.score_low, compared.score_high)}"
    return [f"Where partly right answers count in part, the mean scores are {scores} ({more})."]


def _chance(compared: Comparison) -> list[str]:
    if compared.p is None:
        return []
    test = "exact McNemar test" if compared.test == "mcnemar" else "sign-flip test over questions"
    p, p_holm = _equal(compared.p), _equal(compared.p_holm)
    more = "" if p == p_holm else f"; corrected for all comparisons of this report, p {p_holm}"
    return [f"By the {test}, p {p}{more}."]


def _equal(p: float | None) -> str:
    text = probability(p)
    return text if text.startswith("<") else f"= {text}"


def _flattered(group: Group) -> list[str]:
    memories = sum(account.comparison is not None and not is_control(account) for account in group.accounts)
    return [f"It is the best of {memories} memories by these very answers, which flatters it."] if memories > 1 else []


def _controls(best: ArmAccount, group: Group) -> list[Comparison]:
    """The memory against every control but the baseline, those that it does not beat and those that come near first.

    To beat all of them, it has to beat each, so that the p values need no correction for their number.
    """
    others = [one for one in group.accounts if is_control(one) and one is not best and one is not group.baseline]
    compared = [_against(best, other) for other in others]
    known = [one for one in compared if one.difference is not None]
    return sorted(known, key=lambda one: (is_better(one), one.difference or 0.0))


def _against(best: ArmAccount, other: ArmAccount) -> Comparison:
    """On the runs that both took part in."""
    theirs = {run.folder: arm.rows for run, arm in other.streams}
    met = [(arm.rows, theirs[run.folder]) for run, arm in best.streams if run.folder in theirs]
    names = (best.pooled.arm, other.pooled.arm)
    return compare_runs([mine for mine, _ in met], [rows for _, rows in met], names=names)


def _beside(controls: Sequence[Comparison]) -> list[str]:
    if not controls:
        return []
    nearest = controls[0]
    lead = f"{points(nearest.difference)} points, {interval(nearest.low, nearest.high)}"
    if is_worse(corrected(controls)[0]):  # any of them may beat it, so that here their number counts
        return [f"The control {nearest.baseline} beats it ({lead})."]
    unbeaten = [control.baseline for control in controls if not is_better(control)]
    if unbeaten:
        which = "" if len(unbeaten) == 1 else f"{nearest.baseline}: "
        return [f"It is not shown to beat {listed(unbeaten)} ({which}{lead})."]
    if len(controls) == 1:
        return [f"It beats the control {nearest.baseline} ({lead})."]
    return [f"It beats all {len(controls)} controls; {nearest.baseline} comes nearest ({lead})."]


def _harmful(best: ArmAccount, group: Group) -> list[str]:
    return [
        f"{compared.arm} does harm ({points(compared.difference)} points, {interval(compared.low, compared.high)})."
        for account in group.accounts
        if (compared := account.comparison) and account is not best and not is_control(account) and is_worse(compared)
    ]


def _failed(compared: Comparison) -> list[str]:
    if not compared.failures:
        return []
    calls = counted(len(compared.failures), "call that failed is", "calls that failed are")
    return [f"{calls} left out of the difference; in the accuracies they count as wrong."]


def _alone(group: Group) -> Conclusion:
    first = max(group.accounts, key=lambda account: account.pooled.accuracy or 0.0).pooled
    known = f"{first.arm} is right on {percent(first.accuracy)} of {counted(first.questions, 'question')}."
    why = "Without a baseline beside it, it cannot be told whether memory helps."
    return Conclusion(verdict=Verdict.ALONE, best=None, sentences=(known, why))
