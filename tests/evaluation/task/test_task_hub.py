"""Data sets of the Hugging Face Hub: what is made here and saved, and a Hub that cannot be reached."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import datasets
import pytest

from cheatsheet.errors import MissingExtraError, TaskError, UnknownNameError
from cheatsheet.evaluation.task import Sample, load_task

QUESTIONS = {"question": ["Left?", "Right?", "Up?"], "answer": [0, 1, 0], "picture": [b"\x89", None, None]}
FEATURES = datasets.Features(
    {
        "question": datasets.Value("string"),
        "answer": datasets.ClassLabel(names=["yes", "no"]),
        "picture": datasets.Value("binary"),
    }
)
SAMPLES = (
    Sample(id="1", input="Left?", target="yes", metadata={}),
    Sample(id="2", input="Right?", target="no", metadata={"picture": None}),
    Sample(id="3", input="Up?", target="yes", metadata={"picture": None}),
)


@pytest.fixture(scope="module")
def one() -> datasets.Dataset:
    return datasets.Dataset.from_dict(QUESTIONS, features=FEATURES).cast_column("picture", datasets.Image())


@pytest.fixture(scope="module")
def saved(one: datasets.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of two splits, saved in a folder."""
    folder = tmp_path_factory.mktemp("hub") / "owner" / "compass"
    datasets.DatasetDict({"train": one, "test": one.select([2])}).save_to_disk(folder)
    return folder


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, one: datasets.Dataset) -> list[tuple[Any, ...]]:
    """A Hub that has one data set; the calls that reach it."""
    calls: list[tuple[Any, ...]] = []

    def load_dataset(name: str, config: str | None, *, revision: str | None) -> datasets.DatasetDict:
        calls.append((name, config, revision))
        if name == "away":
            raise ConnectionError("Couldn't reach 'away' on the Hub (OfflineModeIsEnabled)")
        if name == "none":
            raise datasets.exceptions.DatasetNotFoundError("Dataset 'none' doesn't exist on the Hub")
        if name == "wide" and config is None:
            raise ValueError("Config name is missing.\nPlease pick one among the available configs: ['a', 'b']")
        return datasets.DatasetDict({"train": one})

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    return calls


def test_a_data_set_by_its_name(hub: list[tuple[Any, ...]]) -> None:
    """Numbers that stand for names are these names, and pictures are left out."""
    task = load_task("hf:owner/compass+config=big+revision=v2")
    assert hub == [("owner/compass", "big", "v2")]
    assert task.samples == SAMPLES
    assert (task.name, task.version, task.split) == ("compass-big", "v2", "")


def test_a_saved_folder_and_its_splits(saved: Path) -> None:
    task = load_task(f"hf:{saved}", split="test")
    assert [sample.input for sample in task.samples] == ["Up?"]
    assert (task.name, task.split) == ("compass", "test")
    assert load_task(f"hf:{saved}+split=test").samples == task.samples
    with pytest.raises(TaskError, match=r"has the splits 'train', 'test'\. Choose one, such as hf:.*\+split=train"):
        load_task(f"hf:{saved}")
    with pytest.raises(TaskError, match=r"has no split 'dev'; it has 'train', 'test'"):
        load_task(f"hf:{saved}", split="dev")


def test_one_split_can_be_cut(saved: Path) -> None:
    source = f"hf:{saved}+split=train"
    whole = load_task(source)
    parts = [load_task(source, split=f"{name}:1/0/1") for name in ("train", "test")]
    assert {sample.id for part in parts for sample in part.samples} == {sample.id for sample in whole.samples}
    assert {part.sha256 for part in parts} == {whole.sha256}
    assert [part.split for part in parts] == ["train:1/0/1", "test:1/0/1"]


def test_the_only_split_is_not_taken_for_another(hub: list[tuple[Any, ...]]) -> None:
    """Its `train` would hold what a cut `test` holds."""
    with pytest.raises(TaskError, match=r"has no split 'test'; it has 'train'\. .*--split test:60/20/20"):
        load_task("hf:owner/compass", split="test")


def test_the_hash_is_that_of_the_questions(hub: list[tuple[Any, ...]], saved: Path) -> None:
    by_name = load_task("hf:owner/compass")
    assert by_name.sha256 == load_task(f"hf:{saved}", split="train").sha256
    assert by_name.sha256 != load_task(f"hf:{saved}", split="test").sha256
    assert by_name.sha256 != load_task("hf:owner/compass", fields={"target": "question", "input": "answer"}).sha256


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("hf:away", TaskError, r"'away' cannot be reached: .*OfflineModeIsEnabled.*HF_HUB_OFFLINE=1"),
        ("hf:none", TaskError, "'none' cannot be loaded: Dataset 'none' doesn't exist"),
        ("hf:wide", TaskError, r"'wide' cannot be loaded: Config name is missing.*\+config="),
        ("hf:", TaskError, "names no data set"),
        ("hf:wide+conifg=a", UnknownNameError, "Did you mean 'config'"),
        ("hf:wide+a", TaskError, r"after each \+ comes an option with its value"),
        ("hf:wide+split=a+split=b", TaskError, "'split' is given twice"),
    ],
)
def test_what_cannot_be_had_is_a_sentence(
    hub: list[tuple[Any, ...]], source: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=rf"(?s){message}"):
        load_task(source)


def test_a_hidden_answer_is_an_error(tmp_path: Path) -> None:
    """Test splits of competitions give -1 for every answer."""
    hidden = datasets.Dataset.from_dict(
        {"question": ["q"], "answer": [-1]},
        features=datasets.Features({name: FEATURES[name] for name in ("question", "answer")}),
    )
    hidden.save_to_disk(tmp_path / "hidden")
    with pytest.raises(TaskError, match=r"row 1: 'target' \(column 'answer'\) has no value"):
        load_task(f"hf:{tmp_path / 'hidden'}")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"need datasets, which is not installed: pip install .*\[datasets\]"):
        load_task("hf:owner/compass")
