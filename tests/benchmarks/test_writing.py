"""The benchmark of writing runs and prints what it promises; its figures are not judged here."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from benchmarks.perf import writing


def test_it_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    writing.main(["--sizes", "20,40", "--repeat", "4", "--bulk", "60", "--json"])
    out, err = capsys.readouterr()
    small, large, bulk = json.loads(out)
    assert [small["bullets"], large["bullets"], bulk["bullets"]] == [20, 40, 60]
    for side in writing.SIDES:
        assert small[f"{side}_ms"]["n"] == 4
        assert 0 < small[f"{side}_ms"]["p50"] <= small[f"{side}_ms"]["p99"]
    assert bulk["transactions"] == 1
    assert all(bulk[f"{name}_s"] > 0 for name in ("import", "open", "backup", "verify", "vacuum"))
    assert "bulk import of 60 bullets" in err


def test_it_prints_tables(capsys: pytest.CaptureFixture[str]) -> None:
    writing.main(["--sizes", "20", "--repeat", "3", "--bulk", "0"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| bullets | insert, ms p50 / p99 | commit")
    assert lines[2].startswith("| 20 ")


def test_rows_are_ready_once_they_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = writing.ReadyEmbedder()
    rows = embedder.embed(["a", "b"])
    monkeypatch.setattr(np.random, "default_rng", lambda seed: pytest.fail("a row is made again"))
    assert (embedder.embed(["b", "a"]) == rows[::-1]).all()
    assert embedder.embed([]).shape == (0, embedder.dim)


def test_the_floor_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    connect = sqlite3.connect

    def traced(*given: object, **how: object) -> sqlite3.Connection:
        connection = connect(*given, **how)  # type: ignore[call-overload]  # passed on as it came
        connection.set_trace_callback(said.append)
        return connection  # type: ignore[no-any-return]

    monkeypatch.setattr(sqlite3, "connect", traced)
    with writing._floor(tmp_path / "floor.db") as insert:
        insert()
    assert "PRAGMA synchronous = full" in said
    assert sum(text.startswith("INSERT INTO floor") for text in said) == 1
