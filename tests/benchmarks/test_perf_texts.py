"""Bullets to measure with are distinct, say where they come from, and how many are real."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.perf import texts
from benchmarks.perf.texts import Bullets, read_bullets
from cheatsheet.errors import TaskError

RUNS = Path("../shared/data/dc_runs")


def test_the_lines_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "advice.txt"
    path.write_text(
        "- Check the units of every figure.\nToo short.\n* Check the units of every figure.\n"
        "Ask for the order number first.\n"
    )
    found = read_bullets(path)
    assert sorted(found.texts) == ["Ask for the order number first.", "Check the units of every figure."]
    assert found.told(2) == "Bullets: the lines of advice.txt, 6 words each on average."


def test_without_published_runs_there_are_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "RUNS", Path("nowhere"))
    found = read_bullets(None)
    assert len(found.texts) == len(set(found.texts)) == found.real > 300
    assert found == read_bullets(None)


def test_repeats_are_distinct_and_told() -> None:
    found = Bullets(("one", "two", "three"), "three words", real=3).at_least(10)
    assert len(found.texts) == len(set(found.texts)) == 10
    assert found.texts[:4] == ("one", "two", "three", "one (case 2)")
    assert found.real == 3
    assert "above 3, repeats made distinct by a number" in found.told(10)
    assert "repeats" not in found.told(3)


def test_more_than_enough_stay_as_they_are() -> None:
    bullets = Bullets(("one", "two"), "two words", real=2)
    assert bullets.at_least(1) == bullets


@pytest.mark.parametrize("content", ["", "Too short.\n"])
def test_a_file_without_texts_is_told(tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty.txt"
    path.write_text(content)
    with pytest.raises(TaskError, match=r"There is no text of 5 words or more: the lines of empty.txt"):
        read_bullets(path)


@pytest.mark.skipif(not RUNS.is_dir(), reason="the published runs are not here")
def test_published_runs() -> None:
    found = read_bullets(RUNS)
    assert found.real > 5_000
    assert all(len(text.split()) >= 4 for text in found.texts)
