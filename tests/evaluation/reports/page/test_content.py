"""Which runs are taken together, and how they are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from cheatsheet.errors import UnknownNameError
from cheatsheet.evaluation.reports.page.content import Report, anchored, report_of
from cheatsheet.evaluation.runs.reading import find_runs
from tests.evaluation.reports.page import worlds
from tests.evaluation.reports.page.worlds import stream


def _report(folder: Path, **options: str) -> Report:
    return report_of(find_runs([folder]), **options)


def test_orders_of_the_same_questions_are_one_comparison(three_orders: Report) -> None:
    (group,) = three_orders.groups
    assert group.orders == ("seed 1", "seed 2", "seed 3")
    assert group.arms == ("default", "retrieval", "full-history", "random")
    assert group.questions == 30
    assert [account.pooled.n for account in group.accounts] == [90, 90, 90, 90]
    assert group.baseline_name == "default"


def test_what_changes_results_makes_another_comparison(tmp_path: Path) -> None:
    arms = {"default": stream("-+"), "retrieval": stream("++")}
    worlds.write_run(tmp_path / "a", arms)
    worlds.write_run(tmp_path / "b", arms, model="another/model")
    worlds.write_run(tmp_path / "c", arms, settings={"top_k": 9})
    report = _report(tmp_path)
    assert [group.name for group in report.groups] == [
        "colours, fake/model (a)",
        "colours, another/model",
        "colours, fake/model (c)",
    ]
    assert len({group.anchor for group in report.groups}) == 3
    keys = [key for group in report.groups for key, _ in group.runs]
    assert len(set(keys)) == 3


def test_one_model_is_not_told_again_and_again(tmp_path: Path) -> None:
    for task in ("colours", "sums"):
        worlds.write_run(tmp_path / task, {"default": stream("-")}, task=task)
    groups = _report(tmp_path).groups
    assert [group.name for group in groups] == ["colours", "sums"]
    assert "fake/model" in groups[0].subtitle


def test_questions_of_all_orders_are_counted(tmp_path: Path) -> None:
    """Two orders of which each asks other questions, as a limit makes them."""
    worlds.write_run(tmp_path / "a", {"default": stream("--")}, seed=1)
    worlds.write_run(tmp_path / "b", {"default": stream("----")[2:], "retrieval": stream("")}, seed=2)
    assert [group.questions for group in _report(tmp_path).groups] == [4]


def test_the_baseline_may_be_chosen(tmp_path: Path) -> None:
    worlds.write_run(tmp_path / "a", {"default": stream("-+"), "retrieval": stream("++")})
    assert _report(tmp_path, baseline="retrieval").groups[0].baseline_name == "retrieval"
    with pytest.raises(UnknownNameError, match=r"Unknown baseline 'retreival'\. Did you mean 'retrieval'\?"):
        _report(tmp_path, baseline="retreival")


def test_without_a_baseline_nothing_is_compared(tmp_path: Path) -> None:
    worlds.write_run(tmp_path / "a", {"retrieval": stream("++")})
    (group,) = _report(tmp_path).groups
    assert group.baseline is None
    assert group.baseline_name == ""


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    run = worlds.write_run(tmp_path / "a", {"default": stream("-+"), "retrieval": stream("++")})
    (run / "arms" / "retrieval" / "memory.db").write_bytes(b"not a memory")
    report = _report(tmp_path)
    assert any("retrieval/memory.db is not a memory" in note for note in report.notes), report.notes


def test_the_title_is_that_of_the_tasks_or_the_readers(tmp_path: Path) -> None:
    worlds.write_run(tmp_path / "a", {"default": stream("-")}, task="colours")
    worlds.write_run(tmp_path / "b", {"default": stream("-")}, task="sums")
    assert _report(tmp_path).title == "Memory on colours, sums"
    assert _report(tmp_path, title="Ours").title == "Ours"


@pytest.mark.parametrize(
    ("text", "address"),
    [("colours, a/b c", "colours-a-b-c"), ("<script>", "script"), ("問題", "unnamed"), ("../..", "unnamed")],
)
def test_names_are_made_fit_for_an_address(text: str, address: str) -> None:
    assert anchored(text) == address
