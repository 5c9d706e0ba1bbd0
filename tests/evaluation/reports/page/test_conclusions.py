"""The first screen: sentences made from the numbers, honest where memory does not help or where that cannot be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from cheatsheet.evaluation.reports.page.conclusions import Conclusion, Verdict, conclusion_of, headline
from cheatsheet.evaluation.reports.page.content import Group, Report, report_of
from cheatsheet.evaluation.reports.page.facts import facts_of
from cheatsheet.evaluation.runs.reading import find_runs
from cheatsheet.evaluation.runs.rows import Row
from tests.evaluation.reports.page import worlds
from tests.evaluation.reports.page.worlds import row, stream


def _group(folder: Path, arms: Mapping[str, Sequence[Row]]) -> Group:
    worlds.write_run(folder / "run", arms)
    return report_of(find_runs([folder])).groups[0]


def _conclusion(folder: Path, **arms: Sequence[Row]) -> Conclusion:
    return conclusion_of(_group(folder, {name.replace("_", "-"): rows for name, rows in arms.items()}))


def test_memory_helps(three_orders: Report) -> None:
    conclusion = conclusion_of(three_orders.groups[0])
    assert conclusion.verdict is Verdict.HELPS
    assert conclusion.sentences == (
        "retrieval scores 63.3 points more than default (95 % interval 46.7 to 80, n = 30 in 3 orders), "
        "at 2.1 times the tokens.",
        "It beats the control random (+36.7 points, 95 % interval 20 to 53.3).",
        "By the sign-flip test over questions, p < 0.001.",
        "It is the best of 2 memories by these very answers, which flatters it.",
        "full-history does harm (−33.3 points, 95 % interval −50 to −16.7).",
    )


def test_memory_harms(tmp_path: Path) -> None:
    conclusion = _conclusion(tmp_path, default=stream("+" * 12), retrieval=stream("-" * 10 + "++", tokens=300))
    assert conclusion.verdict is Verdict.HARMS
    assert conclusion.sentences[0].startswith("retrieval scores 83.3 points fewer than default (95 % interval −")


def test_it_cannot_be_told(tmp_path: Path) -> None:
    conclusion = _conclusion(tmp_path, default=stream("-+--+"), retrieval=stream("++---"))
    assert conclusion.verdict is Verdict.UNTOLD
    assert conclusion.sentences[0].startswith("retrieval scores as many points as default (95 % interval ")
    assert "at 1.0 times the tokens" in conclusion.sentences[0]


def test_a_correction_for_many_comparisons_is_told(tmp_path: Path) -> None:
    """A lead that is certain alone, and is not as the best of three."""
    arms = {"default": stream("-" * 12), "cumulative": stream("-" * 12), "full_history": stream("-" * 12)}
    conclusion = _conclusion(tmp_path, **arms, retrieval=stream("++++++" + "-" * 6))
    assert conclusion.verdict is Verdict.UNTOLD
    assert conclusion.sentences[1] == (
        "By the exact McNemar test, p = 0.031; corrected for all comparisons of this report, p = 0.094."
    )


def test_a_difference_within_five_points_is_little(tmp_path: Path) -> None:
    same = "+-" * 100
    conclusion = _conclusion(tmp_path, default=stream(same), retrieval=stream("-+++" + same[4:]))
    assert conclusion.verdict is Verdict.LITTLE


def test_a_memory_must_beat_the_controls_too(tmp_path: Path) -> None:
    conclusion = _conclusion(
        tmp_path,
        default=stream("-" * 20),
        retrieval=stream("+" * 15 + "-" * 5),
        nearest=stream("+" * 14 + "-" * 6),
        random=stream("-" * 20),
    )
    assert conclusion.verdict is Verdict.NO_MORE_THAN_CONTROL
    assert conclusion.sentences[1].startswith("It is not shown to beat nearest (+5.0 points, 95 % interval 0 to ")


def test_a_control_may_beat_the_memory(tmp_path: Path) -> None:
    arms = {"default": stream("-" * 30), "retrieval": stream("+" * 12 + "-" * 18), "nearest": stream("+" * 30)}
    conclusion = _conclusion(tmp_path, **arms)
    assert conclusion.verdict is Verdict.NO_MORE_THAN_CONTROL
    assert conclusion.sentences[1].startswith("The control nearest beats it (−60.0 points, 95 % interval −")


def test_partly_right_answers_count_in_part(tmp_path: Path) -> None:
    arms = {"default": stream("-" * 12), "retrieval": [row(place, right=True, score=0.5) for place in range(12)]}
    conclusion = _conclusion(tmp_path, **arms)
    assert conclusion.sentences[1] == (
        "Where partly right answers count in part, the mean scores are retrieval 50.0 %, default 0.0 % (+50.0 points, "
        "no interval, as all questions went alike)."
    )


def test_nothing_asked_yet_is_no_failure(tmp_path: Path) -> None:
    conclusion = _conclusion(tmp_path, default=stream(""), retrieval=stream(""))
    assert (conclusion.verdict, conclusion.sentences) == (Verdict.NO_SCORE, ("No question has been asked yet.",))


def test_failed_calls_are_no_answers(tmp_path: Path) -> None:
    """N05: a failed call is no wrong answer, and is left out of the comparison."""
    conclusion = _conclusion(tmp_path, default=stream("-" * 12), retrieval=stream("!!++++++++++"))
    assert "n = 10" in conclusion.sentences[0]
    assert conclusion.sentences[-1].startswith("2 calls that failed are left out of the difference")


def test_no_score(tmp_path: Path) -> None:
    """N06: nothing came back."""
    group = _group(tmp_path, {"default": stream("!!"), "retrieval": stream("!!")})
    conclusion = conclusion_of(group)
    assert conclusion.verdict is Verdict.NO_SCORE
    assert facts_of(group, conclusion) == ()


def test_one_arm_is_compared_with_nothing(tmp_path: Path) -> None:
    conclusion = _conclusion(tmp_path, retrieval=stream("++-+"))
    assert conclusion.verdict is Verdict.ALONE
    assert conclusion.sentences[0] == "retrieval is right on 75.0 % of 4 questions."


def test_money_counts_more_than_tokens_where_all_prices_are_known(tmp_path: Path) -> None:
    group = _group(
        tmp_path,
        {"default": stream("-+" * 6, cost_usd=0.001), "retrieval": stream("+" * 12, tokens=110, cost_usd=0.003)},
    )
    conclusion = conclusion_of(group)
    assert conclusion.sentences[0].endswith("at 3.0 times the cost.")
    facts = {fact.name: (fact.value, fact.detail) for fact in facts_of(group, conclusion)}
    assert facts["At what cost"] == ("3.0 times", "the price: $0.0030 a question, default $0.0010")
    assert facts["How much"] == ("+50.0 points", "retrieval 100.0 %, default 50.0 %")
    assert facts["From what"] == ("12 questions", "1 order, 2 arms, fake/model")


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        ([Verdict.HELPS], "Memory helps here"),
        ([Verdict.HELPS, Verdict.LITTLE], "Memory helps in 1 of 2 comparisons"),
        (
            [Verdict.NO_SCORE, Verdict.NO_MORE_THAN_CONTROL],
            "Memory helps in 1 of 1 comparison, perhaps no more than a control",
        ),
        ([Verdict.NO_SCORE, Verdict.ALONE], "No comparison has a result"),
        (
            [Verdict.HELPS, Verdict.NO_MORE_THAN_CONTROL, Verdict.HARMS, Verdict.UNTOLD],
            "Memory helps in 2 of 4 comparisons, perhaps no more than a control in 1 of them, does harm in 1, "
            "cannot be judged in 1",
        ),
    ],
)
def test_headline(verdicts: list[Verdict], told: str) -> None:
    assert headline([Conclusion(verdict=verdict, best=None, sentences=()) for verdict in verdicts]) == told
