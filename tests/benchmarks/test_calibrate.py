"""The calibration of thresholds: its data are what they say, its counts are right, and it judges the product itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from benchmarks import calibrate
from benchmarks.calibration import merging, showing
from benchmarks.calibration.advice import advise_growing, advise_showing
from benchmarks.calibration.labelled import SAYS_SAME, Label, Lookup, Pair, read_lookups, read_pairs
from benchmarks.calibration.merging import Judged, becomes_one, judge
from benchmarks.calibration.merging_tables import merging_tables
from benchmarks.calibration.published import Published, read_published
from benchmarks.calibration.share import Share
from benchmarks.calibration.showing import Asked, ask
from benchmarks.calibration.tickets import read_ticket_lookups
from cheatsheet.errors import SetupError
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.likeness.grow import grow
from cheatsheet.memory.likeness.sameness import fold
from cheatsheet.memory.operations import Add, Draft, Merge
from cheatsheet.memory.search.exact import exact_retriever
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.memory.store_view import StoreView
from indexes.cached import CachedEmbedder, MemoryVectorCache
from indexes.embedder import Embedder, TextKind
from indexes.hashing import HashingEmbedder
from indexes.vectors import Matrix, normalise

RUNS = Path(__file__).parents[3] / "shared" / "data" / "dc_runs"
CHANGES = {
    "same": {"light", "reordered", "free"},
    "near": {"number", "name", "object", "action", "condition"},
    "opposite": {"negation", "antonym", "order", "comparison"},
}
ITEM = (
    "<memory_item>\n<description>\n{title}: {words} (Reference: {named})\n</description>\n</memory_item>\n** Count: 1\n"
)


class Angles:
    """Unit vectors in the plane; a text is its angle in degrees, so that cosines are known."""

    model_id = "angles"
    dim = 2
    symmetric = True

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        radians = np.radians([float(text) for text in texts])
        return normalise(np.stack([np.cos(radians), np.sin(radians)], axis=1))


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return CachedEmbedder(HashingEmbedder(), MemoryVectorCache())


@pytest.fixture(scope="module")
def judged(embedder: Embedder) -> list[Judged]:
    return judge(read_pairs(), embedder)


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    store = SqliteStore(":memory:")
    yield store
    store.close()


def view(store: SqliteStore, embedder: Embedder) -> StoreView:
    retriever = exact_retriever(store, embedder, namespace="default")
    return StoreView(store, retriever, namespace="default")


def made_up(label: Label, cosine: float, *, says_same: bool) -> Judged:
    pair = Pair(id=f"{label} {cosine}", group="en", label=label, first="a", second="b", change="light")
    return Judged(pair, cosine, says_same)


class TestLabelledData:
    def test_there_are_enough_pairs_of_each_label_in_each_language(self) -> None:
        counts = Counter((pair.group, pair.label) for pair in read_pairs())
        assert counts == {
            ("en", "same"): 40,
            ("en", "near"): 40,
            ("en", "opposite"): 40,
            ("zh", "same"): 20,
            ("zh", "near"): 20,
            ("zh", "opposite"): 20,
        }

    def test_every_domain_and_every_change_is_there(self) -> None:
        pairs = read_pairs()
        domains = Counter(pair.domain for pair in pairs)
        assert set(domains) == {"maths", "code", "support", "api", "finance"}
        assert min(domains.values()) >= 30
        found: dict[str, set[str]] = {}
        for pair in pairs:
            found.setdefault(pair.label, set()).add(pair.change)
        assert found == CHANGES

    def test_no_id_and_no_text_comes_twice(self) -> None:
        pairs = read_pairs()
        assert len({pair.id for pair in pairs}) == len(pairs)
        texts = [fold(text) for pair in pairs for text in (pair.first, pair.second)]
        assert [text for text, n in Counter(texts).items() if n > 1] == []

    def test_chinese_pairs_are_chinese_and_english_ones_are_not(self) -> None:
        for pair in read_pairs():
            for text in (pair.first, pair.second):
                assert any("\u4e00" <= sign <= "\u9fff" for sign in text) == (pair.group == "zh"), pair.id

    def test_there_are_questions_with_and_without_answers(self) -> None:
        lookups = {lookup.group: lookup for lookup in read_lookups()}
        able = {group: sum(map(bool, lookup.answers)) for group, lookup in lookups.items()}
        assert able == {"questions en": 30, "questions zh": 16, "questions zh-en": 6}
        vain = {group: len(lookup.questions) - able[group] for group, lookup in lookups.items()}
        assert vain == {"questions en": 8, "questions zh": 4, "questions zh-en": 0}
        questions = [question for lookup in lookups.values() for question in lookup.questions]
        assert len(set(questions)) == len(questions)

    def test_further_texts_answer_nothing(self) -> None:
        plain, wider = read_lookups()[0], read_lookups(("a text",))[0]
        assert wider.texts == (*plain.texts, "a text")
        assert wider.answers == plain.answers

    def test_each_ticket_is_asked_once_of_four_others_of_its_problem(self) -> None:
        lookups = read_ticket_lookups()
        questions = [question for lookup in lookups for question in lookup.questions]
        assert len(questions) == len(set(questions)) == 120
        for lookup in lookups:
            assert set(lookup.questions).isdisjoint(lookup.texts)
            assert [len(places) for places in lookup.answers] == [4] * 24


class TestMerging:
    def test_what_it_judges_is_what_grow_does_at_every_threshold(
        self, judged: list[Judged], store: SqliteStore, embedder: Embedder
    ) -> None:
        empty = view(store, embedder)
        for each in judged[::3]:
            for threshold in (0.5, 0.7, 0.9, 0.99):
                grown = becomes_one(each.pair, empty, embedder, threshold=threshold)
                assert grown == each.merged(threshold, "grow"), (each.pair.id, threshold)

    def test_a_batch_and_a_memory_decide_alike(self, judged: list[Judged], embedder: Embedder) -> None:
        alike = [each for each in judged if each.says_same]
        for each in (*alike, *judged[::12]):
            store = SqliteStore(":memory:")
            known = Add(draft=Draft(content=each.pair.first))
            store.commit("default", Change(at=datetime(2026, 1, 1, tzinfo=UTC), cause="import", operations=(known,)))
            draft = Add(draft=Draft(content=each.pair.second))
            (operation,) = grow([draft], view(store, embedder), embedder, threshold=-1.0).operations
            assert isinstance(operation, Merge) == each.says_same, each.pair.id
            store.close()

    def test_no_opposite_pair_becomes_one_bullet_at_any_threshold(self, judged: list[Judged]) -> None:
        """D01: what negates or reverses an old lesson is never lost in it."""
        opposite = [each for each in judged if each.pair.label == "opposite"]
        assert len(opposite) == 60
        assert [each.pair.id for each in opposite if each.says_same] == []

    def test_by_their_cosine_alone_opposites_would_be_lost(self, judged: list[Judged]) -> None:
        merged = merging.count(judged, rule="cosine", threshold=0.9).merged
        assert merged["opposite"].part > merged["same"].part

    def test_precision_recall_and_f(self) -> None:
        found = [
            made_up("same", 0.95, says_same=True),
            made_up("same", 0.95, says_same=False),
            made_up("same", 0.70, says_same=True),
            made_up("near", 0.92, says_same=True),
            made_up("opposite", 0.99, says_same=False),
        ]
        grown = merging.count(found, rule="grow", threshold=0.9)
        assert grown.merged == {"same": Share(1, 3), "near": Share(1, 1), "opposite": Share(0, 1)}
        assert (grown.precision, grown.recall) == (Share(1, 2), Share(1, 3))
        assert grown.f() == pytest.approx(0.4)
        assert grown.f(0.5) == pytest.approx(5 / 11)
        alone = merging.count(found, rule="cosine", threshold=0.9)
        assert (alone.precision, alone.recall) == (Share(2, 4), Share(2, 3))

    def test_without_merges_there_is_no_precision(self) -> None:
        nothing = merging.count([made_up("same", 0.5, says_same=True)], rule="grow", threshold=0.9)
        assert nothing.precision.value is None
        assert nothing.precision.told() == "–"
        assert (nothing.recall, nothing.f()) == (Share(0, 1), 0.0)

    def test_the_rule_takes_the_highest_of_the_best_thresholds(self) -> None:
        found = [
            made_up("same", 0.85, says_same=True),
            made_up("near", 0.80, says_same=True),
            made_up("opposite", 0.90, says_same=False),
        ]
        assert advise_growing(found).found == 0.85

    def test_the_rule_takes_nothing_that_merges_an_opposite_pair(self) -> None:
        found = [made_up("same", 0.70, says_same=True), made_up("opposite", 0.60, says_same=True)]
        assert advise_growing(found).found == 0.70
        assert advise_growing([*found, made_up("opposite", 0.99, says_same=True)]).found is None


class TestShowing:
    LOOKUP = Lookup(
        group="angles",
        questions=("0", "90", "200"),
        texts=("10", "60", "80", "25"),
        answers=(frozenset({1}), frozenset({2}), frozenset()),
    )

    def asked(self) -> list[Asked]:
        return [ask(self.LOOKUP, Angles())]

    def test_without_a_threshold_top_k_texts_are_shown(self) -> None:
        shown = showing.count(self.asked(), top_k=2, threshold=showing.NO_THRESHOLD)
        assert (shown.hits, shown.precision, shown.recall) == (Share(1, 2), Share(1, 4), Share(1, 2))
        assert (shown.shown, shown.in_vain) == (2.0, 2.0)

    def test_a_threshold_takes_away(self) -> None:
        shown = showing.count(self.asked(), top_k=3, threshold=0.49)
        # 0 sees 10, 25 and 60, whose cosine is 0.50; 90 sees 80 and 60, and 25 no more; 200 sees none.
        assert (shown.hits, shown.precision) == (Share(2, 2), Share(2, 5))
        assert (shown.shown, shown.in_vain) == (2.5, 0.0)

    def test_memories_of_a_group_are_added_up(self) -> None:
        twice = showing.count(self.asked() * 2, top_k=2, threshold=0.0)
        assert twice.hits == Share(2, 4)

    def test_the_rule_keeps_every_answer(self) -> None:
        lookup = Lookup(group="one", questions=("0",), texts=("72.4", "170"), answers=(frozenset({0}),))
        assert advise_showing([ask(lookup, Angles())]).found == 0.30  # cos 72.4° is 0.302

    def test_the_rule_finds_nothing_where_an_answer_lies_below_all_thresholds(self) -> None:
        lookup = Lookup(group="one", questions=("0",), texts=("95",), answers=(frozenset({0}),))
        assert advise_showing([ask(lookup, Angles())]).found is None

    def test_fewer_texts_than_top_k_are_all_that_is_shown(self) -> None:
        shown = showing.count(self.asked(), top_k=20, threshold=showing.NO_THRESHOLD)
        assert (shown.shown, shown.hits) == (4.0, Share(2, 2))


class TestPublished:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        apples, pears = "Wash the apples well.", "Peel the pears."
        sheets = [
            ITEM.format(title="Apples", words=apples, named="Q1") + ITEM.format(title="Pears", words=pears, named="Q1"),
            ITEM.format(title="Apples", words=f"{apples} Dry them.", named="Q2")
            + ITEM.format(title="Pears", words=pears, named="Q1-Q2"),
            ITEM.format(title="Apples", words="[Previous content preserved...]", named="Q3"),
        ]
        rows = [{"index": n, "raw_input": f"question {n + 1}", "cheatsheet": sheet} for n, sheet in enumerate(sheets)]
        path = tmp_path / "FRUIT__nobody_DynamicCheatsheet_Cumulative.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        return tmp_path

    def test_rewordings_and_neighbours_are_told_apart(self, folder: Path) -> None:
        pairs = {pair.label: (pair.first, pair.second) for pair in read_published(folder).pairs}
        assert pairs["reworded"] == ("Apples: Wash the apples well.", "Apples: Wash the apples well. Dry them.")
        assert set(pairs) == {"reworded", "side by side"}
        assert pairs["side by side"][1] == "Pears: Peel the pears."

    def test_words_that_stand_for_others_are_no_bullet(self, folder: Path) -> None:
        published = read_published(folder)
        assert len(published.pairs) == 3
        assert not any("preserved" in text for text in published.bullets)

    def test_an_item_answers_the_question_that_it_names_alone(self, folder: Path) -> None:
        (lookup,) = read_published(folder).lookups
        assert lookup.questions == ("question 1", "question 2")
        named = [{lookup.texts[place] for place in places} for places in lookup.answers]
        assert named == [
            {"Apples: Wash the apples well.", "Pears: Peel the pears."},
            {"Apples: Wash the apples well. Dry them."},
        ]

    @pytest.mark.skipif(not RUNS.is_dir(), reason="the published runs are not here")
    def test_the_published_runs_give_what_is_cited(self) -> None:
        published = read_published(RUNS)
        assert Counter(pair.label for pair in published.pairs) == {"reworded": 648, "side by side": 4303}
        assert len({pair.id for pair in published.pairs}) == len(published.pairs)
        assert sum(len(lookup.questions) for lookup in published.lookups) == 220
        assert all(all(lookup.answers) for lookup in published.lookups)

    def test_a_folder_without_runs_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(SetupError, match="no published run"):
            read_published(tmp_path)


class TestCommand:
    def test_without_published_runs_it_measures_the_rest(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert calibrate.main(["--embedder", "hashing"]) == 0
        out, err = capsys.readouterr()
        assert "There are no published runs in ../shared/data/dc_runs" in err
        titles = [line for line in out.splitlines() if line.startswith("## ")]
        assert "## Pairs that become one bullet, zh, by grow, as the product decides" in titles
        assert titles[-1] == "## What this says of similarity_threshold"
        assert "published" not in out

    def test_json_holds_every_pair_and_every_threshold(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], judged: list[Judged]
    ) -> None:
        measured = (judged, [ask(lookup, HashingEmbedder()) for lookup in read_lookups()])
        monkeypatch.setattr(calibrate, "measure", lambda published, embedder: measured)
        monkeypatch.setattr(calibrate, "RUNS", Path("nowhere"))
        assert calibrate.main(["--embedder", "hashing", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert list(found) == ["advice", "pairs", "merges", "shown"]
        assert len(found["pairs"]) == 180
        assert len(found["merges"]) == 2 * 2 * len(merging.THRESHOLDS)
        assert len(found["shown"]) == 3 * len(showing.TOP_K) * len(showing.THRESHOLDS)
        assert [each["setting"] for each in found["advice"]] == ["grow_threshold", "similarity_threshold"]

    def test_wrong_merges_are_named(self, judged: list[Judged]) -> None:
        tables = dict(merging_tables(judged))
        (notes,) = (table.footnotes for title, table in tables.items() if title.startswith("What differs"))
        wrong = [each.pair.id for each in judged if each.says_same and each.pair.label not in SAYS_SAME]
        assert [note.split()[2].rstrip(":") for note in notes[1:]] == wrong

    @pytest.mark.parametrize("arguments", [["nowhere"], ["--embedder", "./nowhere"]])
    def test_what_cannot_be_used_is_a_sentence(
        self, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert calibrate.main(arguments) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "nowhere" in err
        assert "Traceback" not in err

    def test_each_text_is_embedded_once(self) -> None:
        counted = Counting()
        pairs = (Pair(id="p", group="published", label="reworded", first="Wash them.", second="Wash them well."),)
        calibrate.measure(Published(pairs=pairs), counted)
        assert [text for text, n in counted.texts.items() if n > 1] == []


class Counting(HashingEmbedder):
    """Counts how often each text is embedded."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: Counter[str] = Counter()

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        self.texts.update(texts)
        return super().embed(texts, kind)
