"""Words beside vectors: what is relevant, what stays nearest, and what the scores say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cheatsheet
from cheatsheet.errors import StoreBusyError, StoreCorruptError, StoreError, StoreReadOnlyError
from cheatsheet.memory.likeness.grow import grow
from cheatsheet.memory.operations import Merge, Remove
from cheatsheet.memory.search.fusion import fused
from cheatsheet.memory.search.hybrid import HybridRetriever
from cheatsheet.memory.search.retriever import Retriever
from cheatsheet.memory.store import MemoryStore
from cheatsheet.memory.store_view import StoreView
from indexes.embedder import TextKind
from indexes.hashing import HashingEmbedder
from indexes.vectors import Matrix
from tests.memory.search.worlds import DIM, World, add


class Blurring(HashingEmbedder):
    """Knows a text by its first letter only, as an embedding takes one error code for another."""

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        return super().embed([text[:1] for text in texts], kind)


CODES = ("ORA-00942: grant it", "ORA-01017: log in anew", "ORA-12154: mend the alias", "Rust E0502: borrow later")


def hybrid(*contents: str, queries: Sequence[str] = (), store: MemoryStore | None = None) -> HybridRetriever:
    world = World(embedder=Blurring(DIM), store=store)
    world.learn(*contents, queries=queries)
    return HybridRetriever(world.store, world.embedder, namespace="default", neighbours=world.neighbours)


def contents(found: Sequence[object]) -> list[str]:
    return [hit.value.content for hit in found]  # type: ignore[attr-defined]  # scored bullets


def test_a_code_that_the_embedding_blurs_is_found_by_its_words() -> None:
    retriever = hybrid(*CODES)
    assert contents(retriever.nearest_bullets("Out of the blue: ORA-12154", 1)) != [CODES[2]]
    assert contents(retriever.relevant_bullets("Out of the blue: ORA-12154", 1)) == [CODES[2]]
    assert len(retriever.relevant_bullets("Out of the blue: ORA-12154", 9)) == 4


def test_experiences_are_found_by_the_words_of_their_queries() -> None:
    retriever = hybrid(queries=["what is KX-1", "what is KX-2", "what is KX-3"])
    (hit,) = retriever.relevant_experiences("tell me about KX-3 please", 1)
    assert hit.value.query == "what is KX-3"


def test_scores_are_cosines_and_a_least_one_holds_for_all() -> None:
    """What only its words have found has its cosine too, and is left out where that is too low."""
    retriever = hybrid(*CODES)
    nearest = {hit.value.id: hit.score for hit in retriever.nearest_bullets("Ohm and E0502 together", 9)}
    found = retriever.relevant_bullets("Ohm and E0502 together", 9)
    assert {hit.value.id: hit.score for hit in found} == nearest
    assert contents(found)[0] == CODES[3]
    assert CODES[3] not in contents(retriever.relevant_bullets("Ohm and E0502 together", 9, min_score=0.9))


def test_what_only_words_find_is_scored_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cheatsheet.memory.search.hybrid.DEPTH", 1)
    retriever = hybrid(*CODES)
    first, _, _, last = retriever.nearest_bullets("Ohm and E0502 together", 4)
    assert last.value.content == CODES[3]
    assert list(retriever.relevant_bullets("Ohm and E0502 together", 2)) == [first, last]


def test_ordinary_words_change_nothing() -> None:
    retriever = hybrid(*CODES, "take the alias of the grant")
    asked = "how do i grant an alias to somebody who has none"
    assert list(retriever.relevant_bullets(asked, 9)) == list(retriever.nearest_bullets(asked, 9))


def test_nothing_is_asked_of_an_empty_memory_or_for_nothing() -> None:
    retriever = hybrid()
    assert retriever.relevant_bullets("ORA-00942", 5) == []
    assert retriever.relevant_experiences("ORA-00942", 5) == []
    assert hybrid(*CODES).relevant_bullets("ORA-00942", 0) == []


def test_what_is_archived_is_found_by_neither(tmp_path: Path) -> None:
    world = World(tmp_path / "memory.db", embedder=Blurring(DIM))
    world.learn(*CODES)
    retriever = HybridRetriever(world.store, world.embedder, namespace="default", neighbours=world.neighbours)
    assert contents(retriever.relevant_bullets("why ORA-12154 again", 1)) == [CODES[2]]
    world.commit(Remove(id="misc-00003"))
    assert CODES[2] not in contents(retriever.relevant_bullets("why ORA-12154 again", 9))
    world.close()


WORDS = st.lists(st.sampled_from(["ORA-1", "ORA-2", "alias", "grant", "KX-1"]), min_size=1, max_size=3).map(" ".join)


@settings(max_examples=40)
@given(texts=st.lists(WORDS, min_size=1, max_size=8), asked=WORDS, k=st.integers(1, 9))
def test_it_is_the_fusion_of_both_rankings(texts: list[str], asked: str, k: int) -> None:
    retriever = hybrid(*texts)
    asked = f"{asked} KX-1"
    numbers = [int(hit.value.id[-5:]) for hit in retriever.nearest_bullets(asked, 99)]
    by_words = retriever._store.matching_bullets("default", asked, 99)
    found = [int(hit.value.id[-5:]) for hit in retriever.relevant_bullets(asked, k)]
    assert set(by_words) <= set(numbers)
    assert found == fused([numbers, _telling(by_words, asked, retriever)])[:k]


def _telling(by_words: Sequence[int], asked: str, retriever: HybridRetriever) -> Sequence[int]:
    """By the words that tell; where there are codes, the others do not count."""
    codes = [word for word in dict.fromkeys(asked.split()) if "-" in word]
    return retriever._store.matching_bullets("default", " ".join(codes), 99) if codes else by_words


@pytest.mark.parametrize(
    "error",
    [StoreReadOnlyError("it cannot be written"), StoreBusyError("others write"), StoreError("the disk is full")],
)
def test_where_words_cannot_be_indexed_vectors_are_searched_and_it_is_told_once(
    error: Exception, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    retriever = hybrid(*CODES)

    def refused(*_: object) -> Sequence[int]:
        raise error

    monkeypatch.setattr(retriever._store, "matching_bullets", refused)
    for _ in range(2):
        found = retriever.relevant_bullets("why ORA-12154 again", 9)
        assert list(found) == list(retriever.nearest_bullets("why ORA-12154 again", 9))
    assert caplog.text.count("Only vectors are searched, not words") == 1
    assert str(error) in caplog.text


def test_a_memory_that_is_damaged_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    retriever = hybrid(*CODES)

    def damaged(*_: object) -> Sequence[int]:
        raise StoreCorruptError("restore a backup")

    monkeypatch.setattr(retriever._store, "matching_bullets", damaged)
    with pytest.raises(StoreCorruptError):
        retriever.relevant_bullets("why ORA-12154 again", 9)


def test_near_duplicates_are_told_by_vectors_alone() -> None:
    """A shared code is no reason to merge, whatever the memory was opened with."""
    retriever = hybrid("ORA-00942: grant it")
    view = StoreView(retriever._store, retriever, namespace="default")
    grown = grow([add("Look, ORA-00942 again")], view, retriever._embedder, threshold=0.9)
    assert not any(isinstance(operation, Merge) for operation in grown.operations)
    grown = grow([add("ORA-00942: grant it")], view, retriever._embedder, threshold=0.9)
    assert any(isinstance(operation, Merge) for operation in grown.operations)


def test_a_memory_opened_with_it_recalls_by_words(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    for search, kind in (("vectors", Retriever), ("hybrid", HybridRetriever)):
        with cheatsheet.open(path, embedder="hashing", search=search, top_k=1) as memory:
            assert type(memory._retriever) is kind
    with cheatsheet.open(path, embedder=Blurring(DIM), search="hybrid", top_k=1) as memory:
        memory.apply(list(map(add, CODES)), grow_adds=False)
        assert CODES[2] in memory.recall("Out of the blue: ORA-12154").text
        assert memory.past(1).relevant_bullets("ORA-12154", 1) == memory.past(1).nearest_bullets("ORA-12154", 1)
