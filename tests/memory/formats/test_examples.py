"""What is read from files as other projects write them, with their damage; and what goes back into them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.memory.formats import Playbook, read_playbook, read_prose, write_playbook
from cheatsheet.memory.history.sheet import Sheet
from cheatsheet.memory.operations import Add

EXAMPLES = Path(__file__).parent / "examples"
NOW = datetime(2026, 1, 5, tzinfo=UTC)


def example(name: str) -> str:
    return (EXAMPLES / name).read_text(encoding="utf-8")


def contents(playbook: Playbook) -> list[str]:
    return [entry.draft.content for entry in playbook.entries]


def damages(playbook: Playbook) -> list[tuple[int, str]]:
    return [(damage.line, damage.text) for damage in playbook.damages]


def exported(playbook: Playbook, format: str) -> str:
    """The entries as bullets of a memory, written again."""
    memory = Sheet().apply([Add(draft=entry.draft) for entry in playbook.entries], at=NOW)
    return write_playbook(memory, format).text


def test_ace() -> None:
    playbook = read_playbook(example("ace--playbook.txt"))
    assert [(entry.id, entry.line) for entry in playbook.entries] == [
        ("sai-00001", 2), ("sai-00004", 3), ("calc-00002", 6), ("code-00003", 9), ("err-00005", 18), ("err-00005", 19)
    ]  # fmt: skip
    formula, code = playbook.entries[2].draft, playbook.entries[3].draft
    assert formula.content == r"Margin is profit :: revenue, as a share; $\frac{p}{r}$ with \nu for units."
    assert (formula.section, formula.helpful) == ("FORMULAS & CALCULATIONS", 7)
    assert code.content.split("\n")[2] == "## not a heading"
    assert code.content.endswith("\n- works for empty lists too\nA line without a home [x-1].")
    assert damages(playbook) == [
        (10, "The line has no id of its own; it was read as part of the bullet 'code-00003' above."),
        (18, "The field helpful of the bullet 'err-00005' is '-2', which is no count; 0 was used."),
        (18, "The field harmful of the bullet 'err-00005' is 'many', which is no count; 0 was used."),
        (19, "The id 'err-00005' is given 2 times; all of these entries were kept."),
        (20, "The bullet 'err-00006' has no text; it was left out."),
    ]


def test_ace_is_written_as_ace_reads_it() -> None:
    text = exported(read_playbook("## OTHERS\n[x-1] helpful=2 harmful=0 neutral=5 ::  spaces around  "), "ace")
    assert text.startswith("## OTHERS\n[misc-00001] helpful=2 harmful=0 neutral=5 :: spaces around\n\n## STRATEGIES")
    assert "\n## PROBLEM-SOLVING HEURISTICS\n" in text


def test_ace_tells_our_quotes_from_those_of_others() -> None:
    lines = ['"Always check units."', '"a" and "b"', r'"two\nlines"', r"C:\new\table"]
    text = "\n".join(f"[a-{n}] helpful=0 harmful=0 :: {line}" for n, line in enumerate(lines))
    assert contents(read_playbook(text)) == ['"Always check units."', '"a" and "b"', "two\nlines", r"C:\new\table"]


def test_ace_lines_before_any_heading_or_without_an_id() -> None:
    text = "Here is the playbook:\n- [a-1] helpful=1 harmful=0 :: with a dash\n## X\n- no id\n  [b-2] :: no counters\n"
    playbook = read_playbook(text, "ace")
    assert [(entry.id, entry.draft.section) for entry in playbook.entries] == [
        ("a-1", "others"),
        ("", "X"),
        ("b-2", "X"),
    ]
    assert damages(playbook) == [(1, "The line is neither a heading nor a bullet; it was left out.")]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("current", {"general-00001": (0, 0, "active"), "error handling-00002": (0, 0, "archived")}),
        ("counters", {"api-00001": (3, 1, "active"), "api-00002": (5, 0, "active")}),
        ("first", {"testing_strategy-00001": (1, 0, "active"), "files-00002": (2, 0, "active")}),
        ("issues", {"context-00001": (2, 1, "archived")}),
    ],
)
def test_skillbook_in_all_its_forms(name: str, found: dict[str, Any]) -> None:
    entries = read_playbook(example(f"skillbook--{name}.json")).entries
    assert {e.id: (e.draft.helpful, e.draft.harmful, e.draft.status) for e in entries} == found


def test_skillbook_keeps_what_it_alone_knows() -> None:
    playbook = read_playbook(example("skillbook--current.json"))
    first, second = playbook.entries
    assert first.draft.sources == ("local:run-7",)
    assert first.draft.created_at == datetime(2026, 1, 5, 7, 30, 0, 123456, tzinfo=UTC)
    assert damages(playbook) == [
        (0, "The decisions on similar skills were left out; this memory judges that itself."),
        (16, "The embedding of the skill 'error handling-00002' was left out; this memory makes its own."),
    ]
    text = exported(playbook, "skillbook")
    for part in (
        '"justification": "Two runs failed on a renamed column."',
        '"epoch": 2',
        '"section": "Error Handling"',
    ):
        assert part in text
    assert second.draft.metadata == {"skillbook": {"section": "Error Handling"}}
    again = read_playbook(text)
    assert [entry.draft.metadata for entry in again.entries] == [first.draft.metadata, second.draft.metadata]


def test_skillbook_damage() -> None:
    playbook = read_playbook(example("skillbook--first.json"))
    assert playbook.entries[1].draft.section == "file work"
    assert damages(playbook) == [
        (0, "The skill 'files-00004' is no object; it was left out."),
        (5, "The skill 'files-00003' has no text; it was left out."),
    ]


def test_cass() -> None:
    playbook = read_playbook(example("cass--playbook.yaml"))
    first, second = playbook.entries
    assert (first.id, first.line, first.draft.helpful, first.draft.pinned) == ("b-lq3x9k-a8f3d2", 13, 6, True)
    assert first.draft.tags == ("no", "2026-01-05", "flaky")
    assert first.draft.sources == ("~/.claude/sessions/1.jsonl",)
    assert (second.draft.status, second.draft.content) == ("archived", "Do not catch everything; name the error.")
    assert [line for line, _ in damages(playbook)] == [0, 34, 34]
    text = exported(playbook, "cass")
    for part in ("maturity: proven", 'workspace: "/repo"', "category: error-handling", "type: anti-pattern"):
        assert part in text
    again = [entry.draft.metadata for entry in read_playbook(text).entries]
    assert again == [first.draft.metadata, second.draft.metadata]


def test_cass_ids_are_of_its_form_and_ours_inside() -> None:
    text = exported(read_playbook("- one lesson of some length"), "cass")
    assert "- id: b-misc-00001\n" in text
    assert [entry.id for entry in read_playbook(text).entries] == ["misc-00001"]


def test_half_a_cass_file() -> None:
    text = example("cass--playbook.yaml")
    broken = text.replace("    type: rule\n", '    type: "rule\n', 1)
    assert contents(read_playbook(broken)) == ["Do not catch everything; name the error."]
    cut = text[: text.index("    type: anti-pattern") + 9]
    playbook = read_playbook(cut)
    assert contents(playbook)[0] == "Mock time in tests, do not sleep."
    assert playbook.damages


def test_reasoning_bank() -> None:
    playbook = read_playbook(example("reasoning-bank--items.md"))
    first, second, third = playbook.entries
    assert first.draft.metadata["reasoning-bank"]["title"] == "Read the filters first"
    assert first.draft.content.endswith("does not name.\n# Memory Item of old")
    assert second.draft.content == "Long lists go on behind a button; do not stop at the first page."
    assert third.draft.content == "Only a title"
    assert damages(playbook) == [
        (1, "The text before the first label belongs to no memory item; it was left out."),
        (15, "The memory item has no content; its description or title was read instead."),
    ]
    assert "## Title Paging\n" in exported(playbook, "reasoning-bank")


def test_reasoning_bank_in_the_fence_of_a_reply() -> None:
    playbook = read_playbook("```\n# Memory Item 1\n## Title T\n## Content Look first.\n```\n")
    assert contents(playbook) == ["Look first."]
    assert playbook.damages == ()


def test_axace() -> None:
    playbook = read_playbook(example("axace--playbook.json"))
    first, second = playbook.entries
    assert first.draft.metadata == {"epoch": 1, "axace": {"tier": "gold", "section": "Response Strategies"}}
    assert (first.draft.tags, first.line) == (("sources",), 5)
    assert (second.draft.helpful, second.draft.harmful) == (0, 2)
    assert len(playbook.damages) == 4
    text = exported(playbook, "axace")
    assert '"Response Strategies": [' in text
    assert '"tier": "gold"' in text
    assert '"bulletCount": 2' in text


def test_an_artifact_of_axace() -> None:
    text = '{"playbook": ' + example("axace--playbook.json") + ', "feedback": [], "history": []}'
    assert read_playbook(text).format == "axace"
    assert len(read_playbook(text).entries) == 2


def test_half_a_json_file_gives_its_whole_entries() -> None:
    text = example("axace--playbook.json")
    playbook = read_playbook(text[: text.index('"content": "Answer') + 20])
    assert contents(playbook) == ["Name the source of each figure."]
    assert playbook.entries[0].draft.section == "Response Strategies"
    ((line, told),) = damages(playbook)
    assert line == 6
    assert told.endswith("were read one by one: 1.")


def test_a_lost_quote_costs_one_entry() -> None:
    lines = [f'  {{"content": "entry {n}", "helpful": {n}}}' for n in range(5)]
    lines[2] = lines[2].replace('"entry', "entry")
    playbook = read_playbook('{"format": "cheatsheet", "version": 1, "bullets": [\n' + ",\n".join(lines) + "\n]}")
    assert contents(playbook) == ["entry 0", "entry 1", "entry 3", "entry 4"]
    assert [entry.line for entry in playbook.entries] == [2, 3, 5, 6]


def test_own_json() -> None:
    playbook = read_playbook(example("json--memory.json"))
    first, second = playbook.entries
    assert (first.id, first.draft.uses, first.draft.pinned, first.draft.tags) == ("calc-00012", 5, True, ("tax",))
    assert second.draft.metadata == {"merged_into": "calc-00012", "json": {"colour": "blue"}}
    assert second.draft.status == "archived"
    assert '"colour": "blue"' in exported(playbook, "json")


def test_own_json_of_another_version_and_a_bare_list() -> None:
    later = read_playbook('{"format": "cheatsheet", "version": 9, "bullets": [{"content": "x"}, 7]}')
    assert contents(later) == ["x"]
    assert len(later.damages) == 2
    assert contents(read_playbook('[{"id": "misc-00001", "content": "y", "helpful": 1}]')) == ["y"]


def test_fields_of_a_kind_are_not_kept_twice() -> None:
    listed = '[{"id": "x-00001", "content": "y", "kind": "legal", "court": "Bonn", "metadata": {"court": "Bonn"}}]'
    (entry,) = read_playbook(listed).entries
    assert entry.draft.metadata == {"court": "Bonn"}


def test_markdown() -> None:
    playbook = read_playbook(example("markdown--notes.md"))
    assert [(entry.draft.section, entry.draft.content) for entry in playbook.entries] == [
        ("Refunds", "Over 500, ask two people.\nBoth must be named in the ticket."),
        ("Refunds", "A receipt is needed:\n```text\n## not a heading\n- not an item\n```"),
        ("Refunds", "Within 30 days only\n- gift cards: 90 days"),
        ("Deadlines", "Reports are due on the 5th."),
        ("Deadlines", "Audits are due in June."),
    ]
    assert damages(playbook) == [
        (3, "The text stands outside of any list; it was left out."),
        (20, "The list item has no text; it was left out."),
    ]


def test_prose_is_read_by_paragraphs() -> None:
    playbook = read_prose("Rules\n=====\nFirst rule,\nin two lines.\n\nThe others:\n- second\n\n***\nThird.\n```\nopen")
    assert playbook.format == "text"
    assert contents(playbook) == ["First rule,\nin two lines.", "second", "Third.\n```\nopen"]
    assert {entry.draft.section for entry in playbook.entries} == {"Rules"}
    assert [line for line, _ in damages(playbook)] == [6, 10]


def test_windows_files_and_byte_order_marks() -> None:
    for name in ("ace--playbook.txt", "reasoning-bank--items.md", "markdown--notes.md", "cass--playbook.yaml"):
        text = example(name)
        assert contents(read_playbook("\ufeff" + text.replace("\n", "\r\n"))) == contents(read_playbook(text))
