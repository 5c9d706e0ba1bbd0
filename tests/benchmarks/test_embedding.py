"""The benchmark of embedding: what is called how often, with what, and how agreement is counted. No time is judged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks.perf import embedders, embedding
from benchmarks.perf.embedders import START, TORCH, Embed, Side, agreement
from benchmarks.perf.processes import Ended, Processes
from indexes.hashing import HashingEmbedder
from indexes.vectors import Matrix

TEXTS = [f"Lesson {n} says what to do in case {n}, and why." for n in range(24)]


def side(name: str, calls: list[tuple[int, int, int]], embed: Embed | None = None, *, batched: bool = True) -> Side:
    """A side that notes threads, batch and number of texts of every call."""
    inner = embed or HashingEmbedder().embed

    def make(threads: int, batch: int) -> Embed:
        def noted(texts: Sequence[str]) -> Matrix:
            calls.append((threads, batch, len(texts)))
            return inner(texts)

        return noted

    return Side(name, make, batched=batched)


def test_the_same_vectors_agree() -> None:
    found = agreement(side("same", []), side(TORCH, []), TEXTS)
    assert (found.n, found.largest_difference, found.lowest_cosine, found.same_nearest) == (24, 0, 1, 1)


def test_other_vectors_do_not() -> None:
    def turned(texts: Sequence[str]) -> Matrix:
        return np.roll(HashingEmbedder().embed(texts), 1, axis=0)

    found = agreement(side("other", [], turned), side(TORCH, []), TEXTS)
    assert found.largest_difference > 0.01
    assert found.lowest_cosine < 0.99
    assert found.same_nearest < 1


def test_texts_go_together_or_as_they_come() -> None:
    """Given all at once, an embedder sorts them by length; given batch by batch, it cannot. int8 is measured once."""
    torch_calls: list[tuple[int, int, int]] = []
    int8_calls: list[tuple[int, int, int]] = []
    sides = [side(TORCH, torch_calls), side("int8", int8_calls, batched=False)]
    found = embedding.many(sides, TEXTS, 1, 2, [8, 16])
    assert torch_calls == [(2, 8, 24)] * 2 + [(2, 8, 8)] * 6 + [(2, 16, 24)] * 2 + [(2, 16, 16), (2, 16, 8)] * 2
    assert int8_calls == [(2, 8, 24)] * 2
    told = [(one.side, one.batch, one.by_length) for one in found]
    assert told == [
        (TORCH, 8, True),
        ("int8", 1, True),
        (TORCH, 8, False),
        (TORCH, 16, True),
        (TORCH, 16, False),
    ]
    assert [one.torch_over is None for one in found] == [name == TORCH for name, *_ in told]


def test_queries_come_one_at_a_time_with_each_number_of_threads() -> None:
    calls: list[tuple[int, int, int]] = []
    found = embedding.queries([side(TORCH, calls)], TEXTS, 2, [1, 2])
    assert calls == [(1, 32, 1)] * 5 + [(2, 32, 1)] * 5
    assert [(one.threads, one.ms.n) for one in found] == [(1, 2), (2, 2)]


def test_each_side_has_a_program_that_starts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs: list[str] = []

    def run(self: Processes, command: list[str], cwd: Path | None = None) -> Ended:
        programs.append(command[-1])
        return Ended("", 1, 1)

    monkeypatch.setattr(Processes, "__call__", run)
    found = embedding.starts(tmp_path / "exports", Processes(tmp_path), 1)
    assert [one.side for one in found] == list(START)
    for program in programs:
        compile(program, "start", "exec")
        assert "embed(['a text'])" in program
    assert sum(repr(str(tmp_path / "exports")) in program for program in programs) == 4


def test_the_sides_are_those_that_start(tmp_path: Path) -> None:
    assert [one.name for one in embedders.sides_of(tmp_path)] == list(START)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sides without a model, and no processes."""
    monkeypatch.setattr(embedding, "sides_of", lambda exports: [side(TORCH, []), side("ONNX fp32", [])])
    monkeypatch.setattr(embedding, "START", {name: START[name] for name in (TORCH, "ONNX fp32")})
    monkeypatch.setattr(Processes, "__call__", lambda self, command, cwd=None: Ended("", 1, 1))


@pytest.mark.usefixtures("made")
def test_it_prints_json_and_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    given = [str(tmp_path / "texts.txt"), "--texts", "12", "--rounds", "1", "--queries", "2", "--batches", "8"]
    assert embedding.main([*given, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["what"] for one in told["measured"]] == ["start"] * 2 + ["query"] * 4 + ["texts"] * 4
    assert [one["side"] for one in told["agreement"]] == ["ONNX fp32"]
    assert embedding.main(given) == 0
    out = capsys.readouterr().out
    assert "| ONNX fp32  | texts |       2 |     8 |       yes |" in out
    assert out.endswith("Bullets: the lines of texts.txt, 11 words each on average.\n")
