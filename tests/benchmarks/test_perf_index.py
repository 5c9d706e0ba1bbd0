"""The benchmark of the indexes measures what it says; its times are not judged here."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.perf import index, index_memory
from benchmarks.perf.index_sides import KINDS, OURS, USUAL, fill
from benchmarks.perf.mixture import AT_ONCE, Mixture, Shape
from indexes.errors import IndexFileError
from indexes.exact import ExactIndex
from indexes.quantised import QuantisedIndex
from indexes.vectors import Matrix, normalise

TINY = ["--sizes", "60,1500", "--real", "60", "--questions", "5", "--embedder", "hashing"]


@pytest.fixture(scope="module")
def real() -> Matrix:
    return normalise(np.random.default_rng(0).standard_normal((50, 16)))


def test_it_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert index.main([*TINY, "--no-memory", "--json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert printed.err.index("| 60 ") < printed.err.index("1,500 rows: filling exact")
    assert [(one["rows"], one["kind"]) for one in found] == [(size, kind) for size in (60, 1_500) for kind in USUAL]
    for one in found:
        assert one["search_ms"]["n"] == 10
        assert one["recall_at_10"] == 1 if one["kind"] in ("exact", "faiss-flat") else one["recall_at_10"] >= 0.95
        assert (one["kept"] is not None) == (KINDS[one["kind"]] in OURS)
        assert one["memory"] is None


def test_it_prints_a_table_of_the_kinds_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert index.main([*TINY, "--kinds", "faiss-hnsw,faiss-ivf", "--even", "--no-memory"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| rows ")
    assert [line.split("|")[2].strip() for line in lines[2:]] == 2 * ["exact", "faiss-hnsw", "faiss-ivf"]
    assert lines[2].split("|")[4].strip() == "1.0000"


def test_an_unknown_kind_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert index.main([*TINY, "--kinds", "annoy"]) == 2
    assert "Unknown kind 'annoy'. Choose of exact, faiss-flat" in capsys.readouterr().err


def test_memory_is_that_of_a_process_of_its_own(real: Matrix) -> None:
    memory = index._memory("exact", 100, Mixture(real))
    if not index_memory.resident():
        assert memory is None
        return
    assert memory is not None
    assert 10 < memory.resident_mb <= memory.peak_mb


def test_what_cannot_be_measured_does_not_end_the_rest(
    real: Matrix, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert index._memory("no-such-kind", 100, Mixture(real)) is None
    assert "no-such-kind alone ended with 1" in capfd.readouterr().err

    def full(*_: object) -> None:
        raise IndexFileError("No space left on device.")

    monkeypatch.setattr(ExactIndex, "save", full)
    assert index._kept(ExactIndex(16), Mixture(real)) is None
    assert capfd.readouterr().err == "No space left on device.\n"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_filled_and_at_its_best(kind: str, real: Matrix) -> None:
    mixture = Mixture(real)
    rows = next(mixture.batches(1_500))
    filled, seconds = fill(kind, mixture, 1_500)
    assert len(filled) == 1_500
    assert seconds > 0
    assert filled.search(rows[1_200], 1).ids.tolist() == [1_200]
    if isinstance(filled, QuantisedIndex):
        assert (filled._codes is not None) == (filled.threshold <= 1_500)


@pytest.mark.parametrize("shape", ["texts", "even"])
def test_mixtures_are_unit_rows_and_the_same_each_time(real: Matrix, shape: Shape) -> None:
    mixture = Mixture(real, shape)
    first, second = (list(mixture.batches(AT_ONCE + 5)) for _ in range(2))
    assert [len(batch) for batch in first] == [AT_ONCE, 5]
    assert all((one == other).all() for one, other in zip(first, second, strict=True))
    assert np.linalg.norm(first[1], axis=1) == pytest.approx(1, abs=1e-6)
    # A mixture lies near the two that it is made of; a random direction lies near none.
    nearest = (first[0][:500] @ real.T).max(axis=1).mean()
    assert (nearest > 0.8) == (shape == "texts")


def test_questions_are_texts_that_are_not_among_the_rows(real: Matrix) -> None:
    texts = index._questions(real[:10], Mixture(real[10:]))
    even = index._questions(real[:10], Mixture(real[10:], "even"))
    assert (texts[:10] == real[:10]).all()
    assert (len(texts), len(even)) == (20, 10)


def test_recall_counts_what_is_missing(real: Matrix) -> None:
    judge, half = ExactIndex(16), ExactIndex(16)
    judge.add(range(50), real)
    half.add(range(0, 50, 2), real[::2])
    hits = [[each.search(row, 10) for row in real[:5]] for each in (judge, half)]
    assert index._recall(hits[0], hits[0]) == 1
    expected = np.mean([np.mean(true.ids % 2 == 0) for true in hits[0]])
    assert index._recall(hits[1], hits[0]) == pytest.approx(expected)
