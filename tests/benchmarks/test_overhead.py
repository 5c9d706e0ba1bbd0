"""The overhead benchmark runs and prints what it promises; its figures are not judged here."""

from __future__ import annotations

import json

import pytest

from benchmarks.perf import overhead

KEYS = ["bullets", "recall_ms_p50", "recall_ms_p99", "learn_ms_p50", "learn_ms_p99", "embed_ms_p50"]


def test_it_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    overhead.main(["--sizes", "20,40", "--repeat", "5", "--embedder", "hashing", "--json"])
    results = json.loads(capsys.readouterr().out)
    assert [result["bullets"] for result in results] == [20, 40]
    assert all(list(result) == KEYS for result in results)
    assert all(value > 0 for result in results for value in result.values())


def test_it_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    overhead.main(["--sizes", "20", "--repeat", "5", "--embedder", "hashing"])
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("| bullets | recall ms")
    assert out[2].startswith("| 20      | ")


def test_random_vectors_are_the_same_each_time() -> None:
    embedder = overhead.RandomEmbedder()
    one, two = embedder.embed(["a", "b"]), embedder.embed(["b", "a"])
    assert (one[0] == two[1]).all()
    assert abs(float(one[0] @ one[1])) < 0.3
