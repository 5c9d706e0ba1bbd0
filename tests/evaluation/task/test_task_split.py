"""Parts of one source: disjoint, whole, and where they were when the source grows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.errors import TaskError, UnknownNameError
from cheatsheet.evaluation.task import Sample, Shares, Split, load_task, shuffled
from cheatsheet.evaluation.task.split import PARTS

all_shares = st.builds(Shares, train=st.integers(1, 99), validation=st.integers(0, 99), test=st.integers(0, 99))


def _file(folder: Path, n: int) -> Path:
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps({"input": f"q{k}", "target": "x"}) + "\n" for k in range(n)), encoding="utf-8")
    return path


@given(st.text(), all_shares)
def test_every_question_is_in_one_part_that_has_a_share(text: str, shares: Shares) -> None:
    part = shares.part_of(text)
    assert getattr(shares, part) > 0
    assert part == shares.part_of(f"  {text} ")


@given(all_shares, st.sampled_from(PARTS))
def test_a_split_comes_back_from_its_text(shares: Shares, name: str) -> None:
    assert Shares.parse(str(shares)) == shares
    for split in (Split(name=name), Split(name=name, shares=shares)):
        assert Split.parse(str(split)) == split


def test_the_parts_are_disjoint_and_whole_and_keep_their_ids(tmp_path: Path) -> None:
    path = _file(tmp_path, 200)
    parts = {name: load_task(path, split=name).samples for name in PARTS}
    assert sorted(sample.id for part in parts.values() for sample in part) == sorted(str(k) for k in range(1, 201))
    assert [sample.input for sample in parts["test"]] == [f"q{int(sample.id) - 1}" for sample in parts["test"]]
    assert {name: len(part) for name, part in parts.items()} == {"train": 125, "validation": 33, "test": 42}


def test_more_rows_move_no_question(tmp_path: Path) -> None:
    before = load_task(_file(tmp_path, 50), split="test").samples
    after = load_task(_file(tmp_path, 100), split="test").samples
    assert after[: len(before)] == before


def test_the_parts_never_change() -> None:
    """Published numbers depend on them."""
    told = [Shares().part_of(text) for text in ("q1", "q2", "q3", "q10", "Wo ist 日本?")]
    assert told == ["validation", "validation", "train", "test", "test"]


def test_the_same_question_twice_is_in_one_part() -> None:
    wordings = ("the same question", "the same  question", " the same\nquestion ")
    samples = [Sample(id=str(number), input=text, target="x") for number, text in enumerate(wordings)]
    part = Shares().part_of("the same question")
    assert Shares().part(part, samples, source="t") == samples


def test_split_order_and_limit(tmp_path: Path) -> None:
    path = _file(tmp_path, 60)
    part = load_task(path, split="train:50/0/50")
    some = load_task(path, split=Split(name="train", shares=Shares.parse("50/0/50")), seed=3, limit=4)
    assert list(some.samples) == shuffled(part.samples, seed=3)[:4]
    assert part.split == some.split == "train:50/0/50"
    assert part.sha256 == some.sha256 == load_task(path).sha256
    assert load_task(path, split="test").split == "test:60/20/20"  # the shares that were used are told


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("dev", UnknownNameError, "Unknown split 'dev'. Choose one of 'train', 'validation', 'test'"),
        ("tset:60/20/20", UnknownNameError, "Did you mean 'test'"),
        ("test:60/20", TaskError, "'60/20' are no shares. Write train/validation/test"),
        ("test:0/0/0", TaskError, "0/0/0 make no parts"),
        (":60/20/20", TaskError, "names nothing"),
        ("test:1/1/0", TaskError, "'test' of .* is empty: none of its 3 questions falls into it by the shares 1/1/0"),
    ],
)
def test_a_split_that_cannot_be_had_is_an_error(
    tmp_path: Path, text: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        load_task(_file(tmp_path, 3), split=text)


def test_negative_shares() -> None:
    with pytest.raises(TaskError, match="-1/1/1 make no parts"):
        Shares(train=-1, validation=1, test=1)
