"""Tasks that Python code gives."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cheatsheet.errors import TaskError
from cheatsheet.evaluation.task import Sample, load_task

MAPPINGS = [{"input": "q1", "target": "a"}, {"input": "q2", "target": "b", "choices": ("a", "b")}]


class Puzzles:
    """Says what is to be known of it."""

    name = "small puzzles"
    instruction = "Solve it."
    scorer = "number"
    version = "7"

    def __init__(self, n: int = 2, folder: Path = Path("here"), note: str = "", odd: bool = False) -> None:
        self.rows = [{"input": f"{folder}/{note}{k}", "target": k + odd} for k in range(n)]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)


class Loud(Puzzles):
    instruction = 3  # type: ignore[assignment]  # the mistake


def samples() -> Iterator[Sample]:
    """Generates; what is to be known stands on the function."""
    yield Sample(id="s1", input="q1", target="a", metadata={"level": 1})
    yield Sample(id="s2", input="q2", target="b", choices=("a", "b"))


samples.instruction = "Choose."  # type: ignore[attr-defined]  # an attribute of the function, as users set it


def with_splits(split: str = "train") -> list[dict[str, str]]:
    return [{"input": f"{split} question", "target": "x"}]


@pytest.fixture(autouse=True)
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("mytasks")
    given = {
        "LIST": MAPPINGS,
        "Puzzles": Puzzles,
        "samples": samples,
        "with_splits": with_splits,
        "NUMBER": 3,
        "TEXT": "abc",
        "MIXED": [1],
        "LOUD": Loud,
        "objects": lambda: [Sample(id="1", input="q", target="x", metadata={"live": object()})],
        "untyped": lambda n: [{"input": n, "target": "x"}],
    }
    vars(made).update(given)
    monkeypatch.setitem(sys.modules, "mytasks", made)
    return made


def test_a_list_of_mappings() -> None:
    task = load_task("mytasks:LIST")
    assert task.samples == (
        Sample(id="1", input="q1", target="a"),
        Sample(id="2", input="q2", target="b", choices=("a", "b")),
    )
    assert (task.name, task.path, task.instruction, task.scorer, task.version) == ("LIST", "mytasks:LIST", "", "", "")


def test_a_class_says_what_is_to_be_known() -> None:
    task = load_task("mytasks:Puzzles")
    assert [(sample.input, sample.target) for sample in task.samples] == [("here/0", "0"), ("here/1", "1")]
    assert (task.name, task.instruction, task.scorer, task.version) == ("small_puzzles", "Solve it.", "number", "7")


def test_a_function_that_gives_samples() -> None:
    task = load_task("mytasks:samples")
    assert task.samples == tuple(samples())
    assert (task.name, task.instruction) == ("samples", "Choose.")


def test_arguments_become_what_the_annotations_say() -> None:
    task = load_task("mytasks:Puzzles+n=1+folder=there+note=5+odd=true")
    assert [(sample.input, sample.target) for sample in task.samples] == [("there/50", "1")]
    assert load_task("mytasks:untyped+n=5").samples[0].input == "5"


def test_splits_of_its_own_or_cut() -> None:
    own = load_task("mytasks:with_splits", split="dev")
    assert ([sample.input for sample in own.samples], own.split) == (["dev question"], "dev")
    named = load_task("mytasks:with_splits+split=dev")
    assert (named.samples, named.split) == (own.samples, "")
    cut = load_task("mytasks:Puzzles+n=50", split="test")
    assert cut.split == "test:60/20/20"
    assert 0 < len(cut.samples) < 50


def test_the_hash_is_that_of_questions_and_instruction(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    one = load_task("mytasks:Puzzles+n=3").sha256
    assert load_task("mytasks:Puzzles+n=3", seed=4, limit=1).sha256 == one
    assert load_task("mytasks:Puzzles+n=4").sha256 != one
    monkeypatch.setattr(Puzzles, "instruction", "Guess.")
    assert load_task("mytasks:Puzzles+n=3").sha256 != one


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nosuchmodule:LIST", r"No module named 'nosuchmodule'\. Install the module"),
        ("mytasks:Puzzle", r"'mytasks' has no 'Puzzle'\. Did you mean 'Puzzles'\?"),
        ("mytasks:NUMBER", "gives a int, but must give samples"),
        ("mytasks:TEXT", "gives a str, but must give samples"),
        ("mytasks:MIXED", "row 1 is a int, but must be a Sample or a mapping"),
        ("mytasks:LOUD", "'instruction' is a int, but must be a text"),
        ("mytasks:LIST+n=3", "is no function and no class, and takes no n"),
        ("mytasks:Puzzles+m=3", r"unexpected keyword argument 'm'\. It takes n, folder, note, odd"),
        ("mytasks:Puzzles+n=many", "n=many cannot be used: Input should be a valid integer"),
        ("mytasks:Puzzles+n=0", "holds no questions"),
        ("mytasks:untyped", "missing a required argument: 'n'"),
        ("mytasks:objects", "the metadata of its questions cannot be written as JSON"),
    ],
)
def test_what_gives_no_task_is_a_sentence(source: str, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        load_task(source)


def test_a_typo_in_a_mapping_is_told(module: ModuleType) -> None:
    vars(module)["TYPO"] = [{"input": "q", "target": "a", "choises": ["a", "b"]}]
    with pytest.raises(TaskError, match=r"mytasks:TYPO, row 1: unknown field 'choises'\. Did you mean 'choices'"):
        load_task("mytasks:TYPO")


def test_what_the_code_raises_itself_is_let_through(module: ModuleType) -> None:
    def broken() -> Iterator[Sample]:
        raise RuntimeError("of their own")
        yield

    vars(module)["broken"] = broken
    with pytest.raises(RuntimeError, match="of their own"):
        load_task("mytasks:broken")


def test_a_file_of_such_a_name_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mytasks:LIST").write_text('{"input": "from the file", "target": "x"}', encoding="utf-8")
    assert load_task("mytasks:LIST").samples[0].input == "from the file"
