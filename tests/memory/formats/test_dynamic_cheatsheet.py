"""Dynamic Cheatsheet's format: what models made of it, and what we make of it."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.formats.dc_text import finished_items, last_block
from cheatsheet.memory.formats.dynamic_cheatsheet import DynamicCheatsheetFormat, joined, parts
from cheatsheet.memory.formats.format import Playbook
from tests.memory.formats.strategies import bullets, nasty
from tests.roles.fakes import bullet

RUNS = Path(__file__).parents[4] / "shared" / "data" / "dc_runs"
DC = DynamicCheatsheetFormat()


def read(text: str) -> Playbook:
    return DC.read(text)


def contents(text: str) -> list[str]:
    return [entry.draft.content for entry in read(text).entries]


def told(text: str) -> list[tuple[int, str]]:
    return [(damage.line, damage.text) for damage in read(text).damages]


ITEM = "<memory_item>\n<description>\n{0}\n</description>\n<example>\n{1}\n</example>\n</memory_item>\n** Count: {2}\n"


HEADINGS = (
    "## Hard Cases", "# Hard Cases #", "**Hard Cases**", "**Hard Cases:**", "__Hard Cases__", "HARD CASES",
    "HARD CASES:", "=== Hard Cases ===", "--- Hard cases ---", "Hard cases", "Hard cases:",
)  # fmt: skip
LOOKALIKES = (
    "</description>", "< /Memory_Item >", "<\\description>", "(Reference: Q9)", "(\\Reference: Q9)", "<example>x",
    "a\n\nExample:\nb\n\nExample:\nc", "\n\nExample:\nb", "Example:\nb", "    indented\nnot", "a</cheatsheet>b",
    "<cheatsheet>", "### PREVIOUS SOLUTIONS (START)", "[Previous content preserved...]", "# Heading", "** Count: 3",
)  # fmt: skip


class TestReading:
    def test_a_sheet_as_it_was_meant(self) -> None:
        text = (
            "<cheatsheet>\nVersion: 3\nSOLUTIONS, IMPLEMENTATION PATTERNS, AND CODE SNIPPETS\n"
            + ITEM.format("Use units (Reference: Q1, Q2)\nalways.", "def f():\n    return 1", 4)
            + "\n## General Meta-Reasoning Strategies\n"
            + ITEM.format("Try small cases.", "n = 1", 1)
            + "</cheatsheet>"
        )
        first, second = read(text).entries
        assert first.draft.content == "Use units\nalways.\n\nExample:\ndef f():\n    return 1"
        assert first.draft.section == "solutions_implementation_patterns_and_code_snippets"
        assert first.draft.sources == ("Q1", "Q2")
        assert (first.draft.helpful, second.draft.helpful) == (3, 0)
        assert second.draft.section == "general_meta_reasoning_strategies"
        assert (first.line, second.line) == (4, 17)
        assert told(text) == []

    @pytest.mark.parametrize("heading", HEADINGS)
    def test_headings_have_many_shapes(self, heading: str) -> None:
        text = f"{heading}\n\n<memory_item>\n<description>x</description>\n</memory_item>"
        assert [entry.draft.section for entry in read(text).entries] == ["hard_cases"]
        assert told(text) == []

    @pytest.mark.parametrize(
        "count",
        ["** Count: 7", "** Count: 7 **", "**Count:** 7", "**Count**: 7", "**Count: 7**", "Count: 7", "Usage Count: 7"],
    )
    @pytest.mark.parametrize("behind", [True, False])
    def test_counts_stand_in_an_item_or_behind_it(self, count: str, behind: bool) -> None:
        item = "<memory_item>\n<description>x</description>\n<example>y</example>\n"
        text = item + (f"</memory_item>\n{count}" if behind else f"{count}\n\n</memory_item>")
        assert [entry.draft.helpful for entry in read(text).entries] == [6]
        assert told(text) == []

    def test_items_without_closing_tags_end_where_the_next_begins(self) -> None:
        """All items of one published run are like this."""
        item = "<memory_item>\n<description>\n{0}\n</description>\n<example>\nok\n</example>\n** Count: {1}\n\n"
        text = item.format("a", 2) + item.format("b", 1) + "GENERAL STRATEGIES\n\n" + item.format("c", 5)
        entries = read(text).entries
        assert [entry.draft.content for entry in entries] == [f"{x}\n\nExample:\nok" for x in "abc"]
        assert [entry.draft.helpful for entry in entries] == [1, 0, 4]
        assert [entry.draft.section for entry in entries] == ["others", "others", "general_strategies"]
        assert told(text) == [(1, "3 items have no closing tag; the end was taken from what follows.")]

    def test_an_item_that_breaks_off_is_read_and_named(self) -> None:
        text = "<memory_item>\n<description>a</description>\n<memory_item>\n<description>\nb\nand half a sen"
        assert contents(text) == ["a", "b\nand half a sen"]
        assert (6, "The description that ends here has no closing tag.") in told(text)

    def test_a_heading_ends_an_item_that_has_no_example(self) -> None:
        text = "<memory_item>\n<description>a</description>\n\nPART TWO\n<memory_item>\n<description>b</description>"
        assert [(e.draft.content, e.draft.section) for e in read(text).entries] == [("a", "others"), ("b", "part_two")]

    def test_words_of_an_item_outside_its_parts_are_kept(self) -> None:
        text = "<memory_item>\nBefore.\n<description>Middle.</description>\nBehind.\n</memory_item>"
        assert contents(text) == ["Before.\n\nMiddle.\n\nBehind."]

    def test_parts_without_an_item_begin_one(self) -> None:
        text = "<description>a</description>\n<example>x</example>\n<description>b</description>"
        assert contents(text) == ["a\n\nExample:\nx", "b"]
        assert len(told(text)) == 3  # two items that were begun, and that none is closed

    def test_free_text_becomes_entries_and_is_named(self) -> None:
        text = "## HINTS\nCheck the\nunits.\n\n- one\n  more of one\n- two\n" + ITEM.format("a", "b", 1)
        assert contents(text) == ["Check the\nunits.", "one\n  more of one", "two", "a\n\nExample:\nb"]
        assert {entry.draft.section for entry in read(text).entries} == {"hints"}
        assert [line for line, _ in told(text)] == [2, 5, 7]
        assert all("kept as an entry of its own" in text for _, text in told(text))

    def test_lines_in_the_place_of_items_are_named_and_left_out(self) -> None:
        lines = "[Previous memory items remain unchanged]\n\n[...]\n"
        text = ITEM.format("a", "b", 1) + lines + ITEM.format("c", "[Previous content preserved...]", 1)
        assert contents(text) == ["a\n\nExample:\nb", "c\n\nExample:\n[Previous content preserved...]"]
        assert [line for line, _ in told(text)] == [10, 12]

    def test_a_repeated_question_block_is_no_cheatsheet(self) -> None:
        """In two published runs the retrieved pairs stand where the model wrote no cheatsheet."""
        block = (
            "### PREVIOUS SOLUTIONS (START)\n\n#### Previous Input #1\nQ\n<memory_item>x\n#### PREVIOUS SOLUTIONS (END)"
        )
        assert contents(block) == []
        assert told(block) == [
            (1, "Earlier questions with their answers stand here in place of a cheatsheet; they were left out.")
        ]
        assert contents(block + "\n" + ITEM.format("a", "b", 1)) == ["a\n\nExample:\nb"]
        assert contents("(empty)\n\n####PREVIOUS SOLUTIONS (END)") == []

    @pytest.mark.parametrize("text", ["", "(empty)", "<cheatsheet>\n(empty)\n</cheatsheet>", "Version: 1.0\n\n---\n"])
    def test_nothing_is_read_from_nothing(self, text: str) -> None:
        assert read(text).entries == ()
        assert read(text).damages == ()

    def test_a_mentioned_tag_begins_no_cheatsheet(self) -> None:
        """P22: the prose before the block mentions the tag; a search from the first tag returns 'tags.'"""
        assert contents("I will use <cheatsheet> tags.\n<cheatsheet>rule one</cheatsheet>") == ["rule one"]

    def test_of_several_cheatsheets_the_last_with_items_is_read(self) -> None:
        def sheet(name: str) -> str:
            return f"<cheatsheet>{ITEM.format(name, 'x', 1)}</cheatsheet>"

        assert contents(f"{sheet('draft')}\nBetter:\n{sheet('final')}") == ["final\n\nExample:\nx"]
        text = f"{sheet('a')}\nIt stands between <cheatsheet> and </cheatsheet>."
        assert contents(text) == ["a\n\nExample:\nx"]
        assert told(text) == [(10, "The text outside the cheatsheet was left out.")]

    def test_a_cheatsheet_that_is_never_closed_is_read_to_its_end(self) -> None:
        text = f"Here it is:\n<cheatsheet>\n{ITEM.format('a', 'b', 2)}"
        assert contents(text) == ["a\n\nExample:\nb"]
        assert any("no closing tag; it was read up to the end" in text for _, text in told(text))

    def test_files_of_windows(self) -> None:
        assert contents(ITEM.format("a\nb", "c", 2).replace("\n", "\r\n")) == ["a\nb\n\nExample:\nc"]

    @pytest.mark.parametrize("count", ["1" * 17, "9" * 5000])
    def test_a_count_that_no_store_could_hold_is_left_out(self, count: str) -> None:
        text = ITEM.format("a", "b", count)
        assert [entry.draft.helpful for entry in read(text).entries] == [0]
        assert told(text) == [(9, "A count is larger than 1,000,000,000,000,000; it was left out.")]

    def test_a_count_in_code_is_code(self) -> None:
        text = "<memory_item>\n<example>\n** Count: 9\ncount: 5\n</example>\n</memory_item>\n** Count: 2"
        assert contents(text) == ["** Count: 9\ncount: 5"]
        assert read(text).entries[0].draft.helpful == 1


class TestWriting:
    def test_it_looks_as_it_was_meant(self) -> None:
        first = bullet("a-1", "Use units.\n\nExample:\n5 cm", section="formulas_and_calculations", helpful=3)
        second = bullet("a-2", "Only words.", section="formulas_and_calculations", sources=("Q1", "exp-00002"))
        assert DC.write([first, second]).text == (
            "<cheatsheet>\n\n## FORMULAS & CALCULATIONS\n\n"
            "<memory_item>\n<description>\nUse units.\n</description>\n<example>\n5 cm\n</example>\n</memory_item>\n"
            "** Count: 4\n\n"
            "<memory_item>\n<description>\nOnly words. (Reference: Q1, exp-00002)\n</description>\n</memory_item>\n"
            "** Count: 1\n\n</cheatsheet>\n"
        )

    def test_an_empty_memory(self) -> None:
        assert DC.write([]).text == "<cheatsheet>\n\n(empty)\n\n</cheatsheet>\n"

    @given(bullets(max_size=4))
    @example([bullet("a-1", "x", section="no such\nsection"), bullet("a-2", "x", section="ẞ")])
    @settings(max_examples=150)
    def test_f2_what_was_written_is_read_back(self, kept: list[Bullet]) -> None:
        written = DC.write(kept)
        playbook = read(written.text)
        lost = " ".join(written.lost)
        assert playbook.damages == ()
        assert len(playbook.entries) == len(kept)
        for entry, one in zip(playbook.entries, kept, strict=True):
            draft = entry.draft
            assert draft.content == one.content or "white space" in lost
            assert draft.content.split() == one.content.split()
            assert draft.section == one.section or "sections" in lost
            assert draft.helpful == one.helpful or "helpful votes" in lost
            assert draft.sources == one.sources or "sources" in lost
            assert (one.harmful == 0) or "harmful votes" in lost
            assert (draft.harmful, draft.tags, draft.pinned, draft.kind) == (0, (), False, "bullet")

    @given(st.text() | nasty)
    def test_f3_no_content_forges_anything(self, content: str) -> None:
        if not content.strip():
            return
        written = DC.write([bullet("a-1", content, helpful=2), bullet("a-2", "second")])
        first, second = read(written.text).entries
        assert (first.draft.helpful, first.draft.sources, first.draft.section) == (2, (), "others")
        assert second.draft.content == "second"

    @given(st.text(max_size=20) | nasty)
    def test_parts_are_joined_to_what_they_were(self, content: str) -> None:
        assert joined(*parts(content)) == content or not content.strip()

    @pytest.mark.parametrize("content", LOOKALIKES)
    def test_what_looks_like_the_format_is_words(self, content: str) -> None:
        written = DC.write([bullet("a-1", content)])
        assert contents(written.text) == [content.lstrip("\n")]


class TestPublishedRuns:
    def test_all_can_be_read(self) -> None:
        """Every item and every count of the five hundred cheatsheets, whatever their damage."""
        if not RUNS.exists():
            pytest.skip("the published runs (../shared/data/dc_runs) are not here")
        sheets = list(_sheets())
        assert len(sheets) == 512
        for text in sheets:
            playbook = read(text)
            if "PREVIOUS SOLUTIONS" in text:
                assert playbook.entries == ()
                assert playbook.damages or text.startswith("(empty)")
                continue
            assert DC.recognises(text)
            assert len(playbook.entries) == text.count("<memory_item>") > 0
            counts = [int(count) for count in re.findall(r"^\*\* ?Count[:*]+\s*(\d+)", text, re.MULTILINE)]
            assert not counts or [entry.draft.helpful + 1 for entry in playbook.entries] == counts
            again = DC.write([bullet(f"x-{n}", e.draft.content) for n, e in enumerate(playbook.entries)])
            assert contents(again.text) == [entry.draft.content for entry in playbook.entries]


def _sheets() -> Iterator[str]:
    for path in sorted(RUNS.glob("*_DynamicCheatsheet_*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            yield from (json.loads(line)["cheatsheet"] for line in file)


class TestBlocks:
    @given(nasty, st.booleans())
    def test_blocks_lie_inside_the_text(self, text: str, doubled: bool) -> None:
        text = text * 2 if doubled else text
        block = last_block(text)
        if block is not None:
            assert text[: block[0]].lower().rstrip().endswith(">")
            assert text[block[1] :].lstrip("< \t/").lower().startswith("cheatsheet")

    def test_finished_items_end_before_the_cut(self) -> None:
        whole = ITEM.format("a", "b", 1)
        assert contents(finished_items(whole + "<memory_item>\n<description>half")) == ["a\n\nExample:\nb"]
        assert finished_items("<memory_item>\n<description>a</description>\n<example>ha") == ""


@pytest.mark.parametrize(
    "piece", ["<", "<memory_item>", "<example>", "** Count: 1\n", "(Reference: ", "[previous ", "#"]
)
def test_reading_takes_no_square_of_the_length(piece: str) -> None:
    read(piece * (200_000 // len(piece)))
