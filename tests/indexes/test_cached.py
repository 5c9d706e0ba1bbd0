"""What is embedded, what is at hand, and what is written."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.cached import CachedEmbedder, CacheKey, MemoryVectorCache
from indexes.embedder import TextKind
from indexes.errors import DimensionMismatchError, NonFiniteVectorError
from indexes.vectors import Matrix, Vector, is_unit
from tests.indexes.implementations import CountingEmbedder


class RecordingCache(MemoryVectorCache):
    """Remembers how often it was written to, and what."""

    def __init__(self) -> None:
        super().__init__()
        self.puts: list[list[CacheKey]] = []

    def put_many(self, vectors: Mapping[CacheKey, Vector]) -> None:
        self.puts.append(list(vectors))
        super().put_many(vectors)


def made(
    *, symmetric: bool = True, memory_items: int = 2048
) -> tuple[CachedEmbedder, CountingEmbedder, RecordingCache]:
    inner, cache = CountingEmbedder(symmetric=symmetric), RecordingCache()
    return CachedEmbedder(inner, cache, memory_items=memory_items), inner, cache


def test_each_distinct_text_is_embedded_once_and_the_rows_stand_in_order() -> None:
    embedder, inner, _ = made()
    rows = embedder.embed(["a", "b", "a", "c", "b"])
    assert inner.calls == [(["a", "b", "c"], "document")]
    assert np.array_equal(rows, CountingEmbedder().embed(["a", "b", "a", "c", "b"]))
    embedder.embed(["c", "d"])
    assert inner.calls[1:] == [(["d"], "document")]
    assert (embedder.hits, embedder.misses) == (1, 4)


def test_documents_are_written_with_one_call() -> None:
    embedder, _, cache = made()
    embedder.embed(["a", "b"])
    embedder.embed(["a", "b"])
    assert [len(keys) for keys in cache.puts] == [2]
    assert {key[:2] for key in cache.puts[0]} == {("counting", "document")}


def test_a_query_is_at_hand_but_never_written() -> None:
    """Recalling must not write."""
    embedder, inner, cache = made()
    embedder.embed(["a"], "query")
    embedder.embed(["a"], "query")
    assert (len(inner.calls), cache.puts) == (1, [])


def test_a_query_that_becomes_a_document_is_written_without_being_embedded_again() -> None:
    """What is asked first and learnt afterwards costs one embedding."""
    embedder, inner, cache = made()
    embedder.embed(["a"], "query")
    embedder.embed(["a", "b"], "document")
    assert inner.calls == [(["a"], "query"), (["b"], "document")]
    assert [len(keys) for keys in cache.puts] == [2]
    embedder.embed(["a"], "query")
    embedder.embed(["a"], "document")
    assert len(cache.puts) == 1


def test_where_the_kind_matters_it_is_part_of_the_key() -> None:
    embedder, inner, cache = made(symmetric=False)
    query, document = embedder.embed(["a"], "query"), embedder.embed(["a"], "document")
    assert [kind for _, kind in inner.calls] == ["query", "document"]
    assert not np.array_equal(query, document)
    assert [key.kind for keys in cache.puts for key in keys] == ["document"]
    assert np.array_equal(embedder.embed(["a"], "query"), query)


def test_the_cache_outlives_the_embedder() -> None:
    first, _, cache = made()
    rows = first.embed(["a", "b"])
    inner = CountingEmbedder()
    later = CachedEmbedder(inner, cache)
    assert np.array_equal(later.embed(["b", "a"]), rows[::-1])
    assert np.array_equal(later.embed(["a"], "query"), rows[:1])
    assert inner.calls == []
    assert len(cache.puts) == 1


def test_another_model_finds_nothing_of_the_first() -> None:
    embedder, _, cache = made()
    embedder.embed(["a"])
    other = CountingEmbedder(model_id="other")
    CachedEmbedder(other, cache).embed(["a"])
    assert len(other.calls) == 1
    assert len(cache) == 2


def test_only_the_texts_used_last_stay_at_hand() -> None:
    embedder, inner, _ = made(memory_items=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        embedder.embed([text], "query")
    assert [texts for texts, _ in inner.calls] == [["a"], ["b"], ["c"], ["b"]]


@given(st.lists(st.tuples(st.lists(st.sampled_from("abcdef"), max_size=8), st.sampled_from(["query", "document"]))))
def test_the_rows_are_those_of_the_inner_embedder(calls: list[tuple[list[str], TextKind]]) -> None:
    """Whatever was asked before, and with less room at hand than one call needs."""
    for symmetric in (True, False):
        embedder, _, cache = made(symmetric=symmetric, memory_items=3)
        documents = set()
        for texts, kind in calls:
            expected = CountingEmbedder(symmetric=symmetric).embed(texts, kind)
            assert np.array_equal(embedder.embed(texts, kind), expected)
            documents |= set(texts) if kind == "document" else set()
        assert len(cache) == len(documents)


def test_a_vector_of_another_length_in_the_cache_is_named() -> None:
    embedder, _, cache = made()
    embedder.embed(["a"])
    broken = {key: np.ones(3, dtype=np.float32) for key in cache.puts[0]}
    cache.put_many(broken)
    with pytest.raises(DimensionMismatchError, match="cached vectors came with dimension 3, but dimension 16"):
        CachedEmbedder(CountingEmbedder(), cache).embed(["a"])


def test_a_write_that_fails_is_tried_again_with_the_next_call() -> None:
    class FullCache(RecordingCache):
        full = True

        def put_many(self, vectors: Mapping[CacheKey, Vector]) -> None:
            if self.full:
                raise OSError(28, "No space left on device")
            super().put_many(vectors)

    cache = FullCache()
    embedder = CachedEmbedder(CountingEmbedder(), cache)
    with pytest.raises(OSError, match="No space left"):
        embedder.embed(["a"])
    cache.full = False
    embedder.embed(["a"])
    assert len(cache) == 1


def test_a_caller_cannot_change_what_is_remembered() -> None:
    embedder, _, _ = made()
    first = embedder.embed(["a"])
    kept = first.copy()
    first[:] = 9
    assert np.array_equal(embedder.embed(["a"]), kept)


def test_many_threads_get_the_right_rows() -> None:
    embedder, _, cache = made(memory_items=5)
    wrong: list[str] = []

    def work(texts: Sequence[str]) -> None:
        for text in texts:
            expected = CountingEmbedder().embed([text, "shared"])
            if not np.array_equal(embedder.embed([text, "shared"]), expected):
                wrong.append(text)

    words = [f"word {number % 20}" for number in range(100)]
    threads = [threading.Thread(target=work, args=(words[start:] + words[:start],)) for start in (0, 5, 10, 15)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(cache) == 21
    assert embedder.hits + embedder.misses == 800


def test_loading_a_memory_does_not_push_out_what_is_at_hand() -> None:
    """A call for more than half of the room is answered and not kept at hand."""
    embedder, inner, _ = made(memory_items=10)
    embedder.embed(["a question"], "query")
    for start in range(0, 60, 6):
        embedder.embed([f"advice {n}" for n in range(start, start + 6)])
    asked = len(inner.calls)
    embedder.embed(["a question"], "query")
    assert len(inner.calls) == asked


def test_a_vector_over_bytes_of_its_own_is_not_copied() -> None:
    """Those of a file are; loading 100,000 of them copies none twice."""

    class BytesCache(RecordingCache):
        def get_many(self, keys: Sequence[CacheKey]) -> dict[CacheKey, Vector]:
            return {key: np.frombuffer(row.tobytes(), dtype="<f4") for key, row in super().get_many(keys).items()}

    cache = BytesCache()
    rows = CachedEmbedder(CountingEmbedder(), cache).embed(["a"])
    later = CachedEmbedder(CountingEmbedder(), cache)
    assert np.array_equal(later.embed(["a"]), rows)
    (known,) = later._recent._known.values()
    assert isinstance(known.vector.base, bytes)
    assert not known.vector.flags.writeable


def test_an_embedder_that_gives_no_unit_rows_has_them_made_so_before_they_are_kept() -> None:
    class Long(CountingEmbedder):
        factor = 3.0

        def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
            return super().embed(texts, kind) * np.float32(self.factor)

    inner, cache = Long(), RecordingCache()
    expected = CountingEmbedder().embed(["a", "b"])
    assert np.allclose(CachedEmbedder(inner, cache).embed(["a", "b"]), expected, atol=1e-6)
    assert all(is_unit(vector) for vector in cache.get_many(cache.puts[0]).values())
    inner.factor = float("nan")
    with pytest.raises(NonFiniteVectorError):
        CachedEmbedder(inner, cache).embed(["c"])
    assert len(cache) == 2
