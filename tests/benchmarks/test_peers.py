"""The comparison with others: what each side does in a step, what is reckoned, and how it is told. No time counts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.perf import peers
from benchmarks.perf.costs import Cost, Found
from benchmarks.perf.figures import Ratio, Times
from benchmarks.perf.peers_chart import chart_of, write_chart
from benchmarks.perf.peers_tables import as_text
from benchmarks.perf.rivals import mem0_store, skillbook
from benchmarks.perf.rivals.full_history import FullHistory
from benchmarks.perf.rivals.ours import RECALL, Ours
from benchmarks.perf.rivals.reembedding import ReEmbedding, alike
from benchmarks.perf.rivals.rival import Took, imported
from benchmarks.perf.texts import Bullets
from cheatsheet.errors import MissingExtraError
from indexes.hashing import HashingEmbedder
from indexes.vectors import Matrix, normalise
from tests.indexes.implementations import CountingEmbedder

TEXTS = tuple(f"Lesson {n} about {n % 7} says to look at page {n * 31}." for n in range(120))


def absent(embedder: Any, folder: Path, most: int = 0) -> Any:
    raise MissingExtraError("nobody's memory is not installed")


def found(*sizes: int) -> Found:
    return peers.measure(
        Bullets(TEXTS, "lessons", real=len(TEXTS)),
        HashingEmbedder(),
        [Ours, FullHistory, partial(ReEmbedding, most=30), absent],
        sizes=sizes,
        rounds=1,
    )


def test_every_side_is_measured_at_every_size() -> None:
    costs = found(20, 40)
    assert (costs.sizes, costs.sides) == ([20, 40], [Ours.name, FullHistory.name, ReEmbedding.name])
    assert costs.missing == ("nobody's memory is not installed",)
    assert [(cost.side, cost.bullets) for cost in costs.costs if cost.estimated] == [(ReEmbedding.name, 40)]
    assert all(cost.ms.n == 1 and cost.ms.p50 > 0 for cost in costs.costs)
    ours = costs.ours(40)
    assert ours.times_ours is None
    assert ours.parts[RECALL] > 0 < ours.parts["commit"]
    text = as_text(costs)
    assert "With 40 bullets, recall is " in text
    assert "nobody's memory is not installed" in text
    assert "| ≈ " in text


class Failing(FullHistory):
    """Fails at its first step with more than 20 bullets."""

    def step(self, question: str, bullet: str) -> Took:
        if len(self._history) > 20:
            raise ValueError("its own bug\nin two lines")
        return super().step(question, bullet)


def test_a_side_that_fails_is_told_and_the_others_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    bullets = Bullets(TEXTS, "lessons", real=len(TEXTS))
    costs = peers.measure(bullets, HashingEmbedder(), [Ours, Failing, ReEmbedding], sizes=[20, 40], rounds=1)
    assert [cost.side for cost in costs.costs] == [
        Ours.name,
        Failing.name,
        ReEmbedding.name,
        Ours.name,
        ReEmbedding.name,
    ]
    assert costs.missing == (f"{Failing.name} failed with 40 bullets: its own bug",)
    assert re.search(rf"^\| {Failing.name} +\| +[0-9.]+ \| +– \|", as_text(costs), re.MULTILINE)
    told = capsys.readouterr().err
    assert told.index("With 20 bullets, recall is") < told.index("40 bullets: filling") < told.index("With 40 bullets")


def test_where_ours_fails_there_is_nothing_to_compare() -> None:
    class Broken(Ours):
        def step(self, question: str, bullet: str) -> Took:
            raise KeyError("ours")

    bullets = Bullets(TEXTS, "lessons", real=len(TEXTS))
    with pytest.raises(KeyError, match="ours"):
        peers.measure(bullets, HashingEmbedder(), [Broken], sizes=[20], rounds=1)


def test_our_step_learns_the_bullet(tmp_path: Path) -> None:
    """The memory has one more bullet after it, and the vectors of the others were not made again."""
    embedder = CountingEmbedder()
    ours = Ours(embedder, tmp_path)
    ours.fill(TEXTS[:10], HashingEmbedder(embedder.dim).embed(TEXTS[:10]))
    embedder.calls.clear()
    took = ours.step("Where is it?", TEXTS[11])
    assert ours._engine is not None
    assert ours._engine.stats().bullets == 11
    assert [len(texts) for texts, _ in embedder.calls] == [1, 1]
    assert took.ms >= took.parts[RECALL] + took.parts["learn"] - 1e-6
    ours.close()


def test_a_pass_embeds_all_bullets_again(tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    rival = ReEmbedding(embedder, tmp_path)
    rival.fill(TEXTS[:10], embedder.embed(TEXTS[:10]))
    took = rival.step("", TEXTS[10])
    assert embedder.calls[-1][0] == list(TEXTS[1:11])
    assert not took.estimated


def test_a_pass_over_too_many_is_reckoned_from_a_part(tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    rival = ReEmbedding(embedder, tmp_path, most=4)
    rival.fill(TEXTS[:10], embedder.embed(TEXTS[:10]))
    assert rival.step("", TEXTS[10]).estimated
    assert embedder.calls[-1][0] == list(TEXTS[7:11])


@given(st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3).filter(any), max_size=12))
def test_pairs_that_are_alike_are_found_once(rows: list[list[int]]) -> None:
    units = normalise(np.array(rows, dtype=np.float32).reshape(-1, 3))
    cosines = units @ units.T
    assert alike(units, 0.9) == [
        (a, b) for a in range(len(rows)) for b in range(a + 1, len(rows)) if cosines[a, b] >= 0.9
    ]


class FakeSkillbook:
    def __init__(self) -> None:
        self.all: list[SimpleNamespace] = []

    def add_skill(self, section: str, content: str) -> SimpleNamespace:
        self.all.append(SimpleNamespace(id=content, content=content, embedding=None))
        return self.all[-1]

    def remove_skill(self, id: str) -> None:
        self.all = [skill for skill in self.all if skill.id != id]

    def skills(self) -> list[SimpleNamespace]:
        return self.all


class FakeDetector:
    compute_embeddings_batch: Any = None

    def ensure_embeddings(self, book: FakeSkillbook) -> None:
        new = [skill for skill in book.skills() if skill.embedding is None]
        for skill, row in zip(new, self.compute_embeddings_batch([skill.content for skill in new]), strict=True):
            skill.embedding = row

    def detect_similar_pairs(self, book: FakeSkillbook) -> None:
        assert all(isinstance(skill.embedding, list) for skill in book.skills())


def test_the_detector_has_all_skills_but_one_from_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(Skillbook=FakeSkillbook, SimilarityDetector=FakeDetector)
    monkeypatch.setattr(skillbook, "imported", lambda *_: module)
    embedder = CountingEmbedder()
    rival = skillbook.SkillbookDetector(embedder, tmp_path, most=4)
    rival.fill(TEXTS[:4], HashingEmbedder(embedder.dim).embed(TEXTS[:4]))
    assert not rival.step("", TEXTS[4]).estimated
    assert [texts for texts, _ in embedder.calls] == [[TEXTS[4]]]
    rival.fill(TEXTS[10:20], HashingEmbedder(embedder.dim).embed(TEXTS[10:20]))
    assert rival.step("", TEXTS[20]).estimated
    assert rival._share() == 10 * 9 / (4 * 3)


class FakeQdrant:
    def __init__(self, collection: str, dim: int, *, path: str, on_disk: bool) -> None:
        self.points: dict[str, tuple[list[float], dict[str, Any]]] = {}
        self.searches: list[dict[str, Any]] = []
        self.client = SimpleNamespace(close=lambda: None)

    def insert(self, *, vectors: list[list[float]], ids: list[str], payloads: list[dict[str, Any]]) -> None:
        self.points |= dict(zip(ids, zip(vectors, payloads, strict=True), strict=True))

    def search(self, **given: Any) -> None:
        self.searches.append(given)

    keyword_search = search


def test_mem0_s_store_is_searched_and_takes_the_bullet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mem0_store, "imported", lambda *_: SimpleNamespace(Qdrant=FakeQdrant))
    for name in ("MEM0_TELEMETRY", "MEM0_DIR"):
        monkeypatch.setenv(name, "")
    rival = mem0_store.Mem0(HashingEmbedder(), tmp_path)
    rival.fill(TEXTS[:5], HashingEmbedder().embed(TEXTS[:5]))
    rival.step("Where is it?", TEXTS[5])
    assert [payload["data"] for _, payload in rival._store.points.values()] == list(TEXTS[:6])
    assert [given["query"] for given in rival._store.searches] == ["Where is it?"] * 2
    assert all(given["filters"] == mem0_store.USER for given in rival._store.searches)
    rival.close()


def test_the_nearest_of_the_history_come_first(tmp_path: Path) -> None:
    rival = FullHistory(HashingEmbedder(), tmp_path)
    rows: list[Sequence[Any]] = []

    def cosines(row: Matrix, history: Matrix) -> Matrix:
        rows.append((row.shape, row.dtype, history.shape, history.dtype))
        return row @ history.T

    rival._cosines = cosines
    rival.fill(TEXTS[:6], HashingEmbedder().embed(TEXTS[:6]))
    assert set(rival.step("Where is it?", "").parts) == {"embedding", "search"}
    dim = HashingEmbedder().dim
    assert rows == [((1, dim), np.float64, (6, dim), np.float64)]


def test_a_package_that_is_not_there_is_named() -> None:
    with pytest.raises(MissingExtraError, match="somebody's package is not installed"):
        imported("no_such_module_of_anybody", "somebody's package")


def made(*sides: str, estimated: bool = False) -> Found:
    costs = [
        Cost(
            side=side,
            what="it works",
            bullets=size,
            ms=Times(5, size / (place + 1), 1, 1),
            parts={RECALL: 2.0},
            estimated=estimated,
            times_ours=None,
            times_our_recall=Ratio(5, 400.0, 350.0, 450.0),
        )
        for place, side in enumerate(sides)
        for size in (100, 10_000)
    ]
    return Found(embedder="e", texts="Bullets.", costs=tuple(costs), growth=dict.fromkeys(sides, 1.0), missing=())


def test_the_headline_is_told_where_it_is_wanted() -> None:
    expected = "With 10,000 bullets, recall is 400 (350 to 450, n = 5) times as fast as a re-embedding pass. "
    assert made(Ours.name, ReEmbedding.name).headline() == expected + "At least 100 is wanted."


def test_the_chart_names_every_line_at_its_end(tmp_path: Path) -> None:
    chart = chart_of(made(Ours.name, ReEmbedding.name, estimated=True))
    lines, _, names = chart["layer"]
    drawn = chart["datasets"][lines["data"]["name"]]
    assert {point["side"] for point in drawn} == {"ours", "ours: recall", ReEmbedding.name}
    labels = sorted(chart["datasets"][names["data"]["name"]], key=lambda name: name["at"])
    assert {label["label"] for label in labels} == {"ours ≈", "ours: recall", f"{ReEmbedding.name} ≈"}
    assert all(below["at"] < above["at"] for below, above in pairwise(labels))
    write_chart(made(Ours.name, ReEmbedding.name), tmp_path / "new" / "chart.svg")
    svg = (tmp_path / "new" / "chart.svg").read_text(encoding="utf-8")
    assert "re-embedding pass" in svg
    assert "bullets in the memory" in svg


def test_a_chart_that_cannot_be_drawn_is_told_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "measure", lambda *_, **__: pytest.fail("measured"))
    assert peers.main(["--chart", "chart.gif"]) == 2
    assert capsys.readouterr().err == "A chart is an .svg or a .png file, not chart.gif.\n"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert peers.main(["--chart", "chart.svg"]) == 2
    assert "extra `report`" in capsys.readouterr().err


def test_it_prints_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(peers, "FullHistory", absent)
    monkeypatch.setattr(peers, "Mem0", absent)
    monkeypatch.setattr(peers, "SkillbookDetector", absent)
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    given = [str(tmp_path / "texts.txt"), "--sizes", "10", "--rounds", "1", "--embedder", "hashing", "--json"]
    assert peers.main(given) == 0
    told = json.loads(capsys.readouterr().out)
    assert [cost["side"] for cost in told["costs"]] == [Ours.name, ReEmbedding.name]
    assert told["growth"] == {Ours.name: None, ReEmbedding.name: None}
    assert told["missing"] == ["nobody's memory is not installed"]


def test_several_steps_are_told_by_their_medians() -> None:
    from benchmarks.perf.costs import middle

    steps = [Took(3, parts={"a": 1}), Took(1, parts={"a": 5}), Took(2, estimated=True, parts={"a": 3})]
    assert middle(steps) == Took(2, estimated=True, parts={"a": 3})
