"""The collapse benchmark: what it counts, and that it can count a loss."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks import collapse
from benchmarks.collapse_account import Found, account, items_of
from cheatsheet.errors import SetupError
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.gate.guard import GuardPolicy
from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.history.sheet import replay
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Update
from indexes.hashing import HashingEmbedder

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "dc_runs"
KEYS = [
    "run",
    "steps",
    "items_ever",
    "items_theirs_final",
    "items_ours_active",
    "items_ours_archived",
    "merges",
    "lost",
]
AT = datetime(2026, 1, 5, tzinfo=UTC)

ITEM = (
    "<memory_item>\n<description>\n{0}: advice about {0} that helps with it (Reference: Q{2})\n</description>\n"
    "<example>\n{1}\n</example>\n** Count: {2}\n\n"
)
PEARS = "1. Wash the pear well. 2. Cut the pear in four parts. 3. Take the core out of each part and eat the rest."


def sheets() -> list[str]:
    """A run as those that were published: items reworded, replaced by words that stand for them, and left out."""
    return [
        "Version: 1\n" + ITEM.format("Apples", "Eat them fresh.", 1) + ITEM.format("Pears", PEARS, 1),
        "Version: 2\n" + ITEM.format("Apples", "[Previous content preserved...]", 2) + ITEM.format("Pears", PEARS, 2),
        "Version: 3\n"
        + ITEM.format("Pears", f"{PEARS} 4. Keep the peel for jam.", 3)
        + ITEM.format("Plums", "Dry.", 3),
        "Version: 4\n" + ITEM.format("Plums", "Dry.", 4) + "[Previous memory items remain unchanged]",
    ]


def write_run(folder: Path, kind: str = "Cumulative") -> Path:
    path = folder / f"FRUIT__nobody_DynamicCheatsheet_{kind}.jsonl.gz"
    rows = [json.dumps({"index": n, "cheatsheet": text}) for n, text in enumerate(sheets())]
    path.write_bytes(gzip.compress("\n".join(rows).encode()))
    return path


class TestReplay:
    def test_it_prints_json_and_names_every_merge(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        write_run(tmp_path)
        merges = tmp_path / "merges.jsonl"
        collapse.main([str(tmp_path), "--embedder", "hashing", "--json", "--merges", str(merges)])
        printed = capsys.readouterr()
        (result,) = json.loads(printed.out)
        assert list(result) == KEYS
        assert result == dict(
            zip(KEYS, ["FRUIT__nobody_DynamicCheatsheet_Cumulative", 4, 4, 1, 3, 0, 1, 0], strict=True)
        )
        (named,) = map(json.loads, merges.read_text(encoding="utf-8").splitlines())
        assert named["item"].startswith("pears: advice about pears")
        assert named["steps"] == ["step 1: add misc-00002", "step 3: update misc-00002"]
        assert named["held"] == 1.0
        assert "step 4 of 4" in printed.err

    def test_it_prints_a_table(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        write_run(tmp_path)
        write_run(tmp_path, "RetrievalSynthesis")
        (tmp_path / "FRUIT__nobody_Dynamic_Retrieval.jsonl.gz").write_bytes(b"not read")
        collapse.main([str(tmp_path), "--embedder", "hashing"])
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith("| run | steps | items ever |")
        assert lines[2:] == [
            "| FRUIT__nobody_DynamicCheatsheet_Cumulative | 4 | 4 | 1 | 3 | 0 | 1 | 0 |",
            "| FRUIT__nobody_DynamicCheatsheet_RetrievalSynthesis | 4 | 4 | 1 | 3 | 0 | 1 | 0 |",
            "| all | 8 | 8 | 2 | 6 | 0 | 2 | 0 |",
        ]

    def test_a_folder_without_runs_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(SetupError, match="There is no published run in"):
            list(collapse.read_runs(tmp_path))

    @pytest.mark.parametrize("left_out", ["keep", "archive"])
    def test_a_published_run_loses_nothing(self, left_out: str) -> None:
        name = "AIME_2024__claude-3-5-sonnet_DynamicCheatsheet_Cumulative"
        if not PUBLISHED.exists():
            pytest.skip("the published runs (../shared/data/dc_runs) are not here")
        run = next(run for run in collapse.read_runs(PUBLISHED) if run.name == name)
        policy = GuardPolicy(left_out="keep" if left_out == "keep" else "archive")
        outcome = collapse.outcome_of(run, collapse.replay(run, HashingEmbedder(), policy))
        assert outcome.lost == 0
        assert (outcome.steps, outcome.items_ever, outcome.items_theirs_final) == (30, 106, 3)
        assert outcome.items_ours_active + outcome.items_ours_archived + outcome.merges == 106


class TestItems:
    def test_references_and_counts_make_no_other_item(self) -> None:
        one, two = (next(items_of(ITEM.format("Apples", "Eat.", n))) for n in (1, 2))
        assert one == two
        assert one.key == "apples: advice about apples that helps with it example: eat"

    def test_an_item_that_only_points_to_another_is_none(self) -> None:
        text = "<memory_item>\n<description>\nTitle\n[Previous content preserved]\n</description>\n</memory_item>"
        assert list(items_of(text)) == []
        assert list(items_of("<memory_item>\n[Previous content for sets remains unchanged...]\n</memory_item>")) == []

    def test_unclosed_items_are_items(self) -> None:
        text = "<memory_item>\n<description>a b c\n<example>d\n</example>\n<memory_item><description>e</description>"
        assert [item.key for item in items_of(text)] == ["a b c example: d", "e"]


def found(items: str, journal: Sequence[Sequence[Operation]]) -> list[Found]:
    """Where the items are, in the memory that a journal leads to."""
    entries = [
        JournalEntry(version=n, at=AT, cause="turn", turn_id=f"step {n}", operations=tuple(operations))
        for n, operations in enumerate(journal, start=1)
    ]
    bullets: list[Bullet] = list(replay(entries))
    return account(items_of(items), bullets, entries)


class TestAccount:
    """What the other side finds, so that a fault of ours would show."""

    TEXT = ITEM.format("Pears", PEARS, 1)
    WORDS = f"Pears: advice about Pears that helps with it\n\nExample:\n{PEARS}"
    FIRST = Add(id="misc-00001", draft=Draft(content=WORDS))

    def test_an_item_that_was_never_kept_is_lost(self) -> None:
        (item,) = found(self.TEXT, [[Add(id="misc-00001", draft=Draft(content="Other advice."))]])
        assert (item.fate, item.bullet) == ("lost", "")

    def test_an_item_is_found_by_its_own_words(self) -> None:
        (item,) = found(self.TEXT, [[self.FIRST]])
        assert (item.fate, item.bullet) == ("active", "misc-00001")
        archived = self.FIRST.model_copy(update={"draft": Draft(content=self.WORDS, status="archived")})
        assert found(self.TEXT, [[archived]])[0].fate == "archived"

    def test_an_item_is_followed_through_updates_and_merges(self) -> None:
        other = Add(id="misc-00002", draft=Draft(content="Fruit."))
        journal: list[list[Operation]] = [
            [self.FIRST, other],
            [Update(id="misc-00001", content=self.WORDS + " 4. Enjoy.")],
            [Merge(into="misc-00002", absorbed=("misc-00001",), content="Fruit. " + self.WORDS)],
        ]
        (item,) = found(self.TEXT, journal)
        assert (item.fate, item.bullet) == ("merged", "misc-00002")
        assert item.steps == ("step 1: add misc-00001", "step 2: update misc-00001", "step 3: merge misc-00001")

    def test_a_merge_that_swallows_the_words_is_a_loss(self) -> None:
        """Collapse with a journal: every step is named, and nothing is left."""
        words = "Pears: be careful."
        swallowing: tuple[Operation, ...] = (
            Update(id="misc-00001", content=words),
            Merge(into="misc-00001", draft=Draft(content="x"), content=words),
        )
        for last in swallowing:
            journal: list[list[Operation]] = [[self.FIRST], [last]]
            (item,) = found(self.TEXT, journal)
            assert item.fate == "lost"
            assert item.held < 0.5

    def test_a_pointing_item_is_where_the_rest_of_its_lines_is(self) -> None:
        pointing = ITEM.format(
            "Pears", "1. Wash the pear.\n[Previous content preserved with addition:]\nKeep the peel.", 2
        )
        kept = Add(id="misc-00001", draft=Draft(content=f"{self.WORDS}\n1. Wash the pear.\nKeep the peel."))
        assert found(pointing, [[kept]])[0].fate == "active"
        assert found(pointing, [[self.FIRST]])[0].fate == "lost"
