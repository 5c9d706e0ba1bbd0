"""Several memories in one file: no query, index or cache of one ever reaches another. At the store: K6."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

import cheatsheet
from cheatsheet.engine.engine import Engine
from cheatsheet.errors import SettingsError
from cheatsheet.memory.experience import Feedback
from cheatsheet.memory.operations import Remove
from cheatsheet.memory.search import index_file
from tests.concurrency.worlds import add

QUESTION = "Where do parcels with a red mark go?"
ALIKE = ("default", "Default", "default.", "..", "дефаулт", "def_ault", "-")
REFUSED = ("", " ", "a b", "a/b", "../a", "a\n", "a\x00", "a'", "%", "x" * 65)


@contextmanager
def opened(path: Path, *namespaces: str, **settings: Any) -> Iterator[list[Engine]]:
    values: dict[str, Any] = {"mode": "retrieval", "embedder": "hashing"} | settings
    with ExitStack() as stack:
        yield [stack.enter_context(cheatsheet.open(path, namespace=name, **values)) for name in namespaces]


def teach(memory: Engine, desk: str) -> None:
    memory.learn(QUESTION, desk, feedback=Feedback(correct=True, comment=f"They go to {desk}."), turn_id="t")


def told(memory: Engine) -> set[str]:
    recall = memory.recall(QUESTION)
    return {hit.value.answer for hit in recall.experiences} | {
        name for hit in recall.bullets for name in ("amber", "teal") if name in hit.value.content
    }


@pytest.mark.parametrize("search", ["vectors", "hybrid"])
def test_recalls_stay_in_their_namespace(memory_file: Path, search: str) -> None:
    with opened(memory_file, *ALIKE, search=search) as memories:
        for number, memory in enumerate(memories):
            assert told(memory) == set()
            assert memory.recall(QUESTION).cached
            teach(memory, f"desk {number}")
        for number, memory in enumerate(memories):
            assert told(memory) == {f"desk {number}"}
            assert memory.stats().bullets == memory.stats().experiences == 1
            assert [hit.value.id for hit in memory.memory.nearest_bullets(QUESTION, 9)] == ["sai-00001"]
            assert memory.learnt("t")
            assert not memory.learnt("u")


def test_saved_indexes_stay_in_their_namespace(memory_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_file, "LEAST_ROWS", 0)
    with opened(memory_file, *ALIKE) as memories:
        for number, memory in enumerate(memories):
            teach(memory, f"desk {number}")
            assert told(memory) == {f"desk {number}"}
    folder = Path(f"{memory_file}.index")
    assert len(list(folder.iterdir())) == 2 * len(ALIKE), "bullets and experiences, each in a file of its own"
    assert {path.parent for path in tmp_files(memory_file)} == {memory_file.parent, folder}
    with opened(memory_file, *ALIKE) as memories:
        for number, memory in enumerate(memories):
            assert told(memory) == {f"desk {number}"}


def tmp_files(memory_file: Path) -> list[Path]:
    return [path for path in memory_file.parent.rglob("*") if path.is_file()]


def test_what_one_changes_changes_nothing_for_the_other(memory_file: Path) -> None:
    with opened(memory_file, "one", "two") as (one, two):
        teach(one, "amber")
        teach(two, "teal")
        before = two.recall(QUESTION)
        first = one.memory.version
        one.apply([Remove(id="sai-00001"), add("Seal it first.")])
        one.rollback(first)
        one.refine(full=True)
        again = two.recall(QUESTION)
        assert again.cached, "for the memory of this recall, nothing has changed"
        assert again.context is before.context
        assert (told(one), told(two)) == ({"amber"}, {"teal"})
        assert two.as_of(two.memory.version).bullets.keys() == {"sai-00001"}


def test_an_embedding_belongs_to_its_text_and_is_shared(memory_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vector tells nothing of a memory: who asks for it has the text."""
    from indexes.hashing import HashingEmbedder

    embedded: list[str] = []
    original = HashingEmbedder.embed

    def counting(self: HashingEmbedder, texts: Any, kind: Any = "document") -> Any:
        embedded.extend(texts)
        return original(self, texts, kind)

    monkeypatch.setattr(HashingEmbedder, "embed", counting)
    with opened(memory_file, "one", "two") as (one, two):
        one.apply([add("Seal it first.")])
        assert embedded == ["Seal it first."]
        assert two.memory.nearest_bullets("Seal it first.", 9) == []
        two.apply([add("Seal it first.")])
        assert embedded == ["Seal it first."]
        assert [memory.stats().bullets for memory in (one, two)] == [1, 1]


@pytest.mark.parametrize("name", REFUSED)
def test_names_are_plain(memory_file: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="namespace"):
        cheatsheet.open(memory_file, namespace=name)
    assert not memory_file.exists()
