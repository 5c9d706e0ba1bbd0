"""Playbooks become operations: where each bullet comes from is known, and nothing is taken twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from cheatsheet.engine import playbooks
from cheatsheet.engine.playbooks import (
    Apply,
    entries_as_operations,
    import_playbook,
    mark,
    new_only,
    read_as,
    read_file,
)
from cheatsheet.errors import SetupError, UnknownNameError
from cheatsheet.memory.formats import read_playbook
from cheatsheet.memory.history.journal import Change, Committed
from cheatsheet.memory.likeness.grow import grow
from cheatsheet.memory.operations import Operation
from indexes.hashing import HashingEmbedder
from tests.memory.worlds import NOW, Memory

ACE = "## OTHERS\n[misc-00007] helpful=3 harmful=1 :: Round at the end only.\n[misc-00008] helpful=0 harmful=0 ::\n"


@pytest.fixture
def memory() -> Memory:
    return Memory(HashingEmbedder())


def apply_to(memory: Memory) -> Apply:
    """Grows and stores, as the engine does."""

    def apply(operations: Sequence[Operation]) -> Committed:
        grown = grow(operations, memory.view, memory.embedder, threshold=0.9)
        change = Change(at=NOW, cause="import", operations=tuple(grown.operations), notes=tuple(grown.notes))
        return memory.store.commit("default", change)

    return apply


def test_an_entry_keeps_its_counters_and_where_it_comes_from() -> None:
    (operation,) = entries_as_operations(read_playbook(ACE), source="ace.txt", tags=("preloaded",), pin=True)
    draft = operation.draft
    assert (draft.helpful, draft.harmful, draft.pinned, draft.tags) == (3, 1, True, ("preloaded",))
    assert draft.sources == ("ace.txt", mark("ace.txt", "Round at the end only."))
    assert draft.metadata["imported_id"] == "misc-00007"
    assert operation.id == ""


def test_ids_of_another_memory_are_told_from_ours() -> None:
    text = (
        '{"format": "cheatsheet", "version": 1, "bullets": [{"id": "x-00001", "content": "c", "status": "merged",'
        ' "sources": ["exp-00004", "notes.md"], "metadata": {"merged_into": "x-00002", "region": "north"}}]}'
    )
    (operation,) = entries_as_operations(read_playbook(text), source="m.json")
    assert operation.draft.sources[:3] == ("m.json/exp-00004", "notes.md", "m.json")
    assert operation.draft.metadata == {"imported_merged_into": "x-00002", "region": "north", "imported_id": "x-00001"}
    assert operation.draft.status == "archived"


def test_what_became_of_a_playbook_is_told(memory: Memory) -> None:
    text = (
        ACE
        + "[misc-00009] helpful=1 harmful=0 :: Round at the end only.\n[a-1] helpful=0 harmful=0 :: Another thing.\n"
    )
    imported = import_playbook(text, source="ace.txt", apply=apply_to(memory), memory=memory.view)
    assert (imported.format, imported.entries, imported.known) == ("ace", 3, 0)
    assert imported.added == ("misc-00001", "misc-00002")
    assert [damage.line for damage in imported.damages] == [3]
    assert imported.version == 1
    assert any("proposed twice" in note or "added once" in note for note in imported.notes)
    bullet = memory.view.bullet("misc-00001")
    assert bullet is not None
    assert bullet.helpful == 4


def test_the_same_file_brings_nothing_a_second_time(memory: Memory) -> None:
    first = import_playbook(ACE, source="ace.txt", apply=apply_to(memory), memory=memory.view)
    again = import_playbook(ACE, source="ace.txt", apply=apply_to(memory), memory=memory.view)
    assert (first.entries, again.entries, again.known, again.added, again.version) == (1, 1, 1, (), 0)
    changed = ACE + "[b-1] helpful=2 harmful=0 :: Something new altogether.\n"
    third = import_playbook(changed, source="ace.txt", apply=apply_to(memory), memory=memory.view)
    assert (third.entries, third.known, len(third.added)) == (2, 1, 1)
    bullets = memory.view.bullets()
    assert [bullet.helpful for bullet in bullets] == [3, 2]


def test_what_was_merged_is_known_as_well(memory: Memory) -> None:
    import_playbook("- Round at the end only.", source="one.md", apply=apply_to(memory), memory=memory.view)
    second = import_playbook("- round at the end only", source="two.md", apply=apply_to(memory), memory=memory.view)
    assert second.merged == ("misc-00001",)
    again = import_playbook("- round at the end only", source="two.md", apply=apply_to(memory), memory=memory.view)
    assert (again.known, again.merged, memory.view.version) == (1, (), 2)


def test_a_dry_run_writes_nothing(memory: Memory) -> None:
    imported = import_playbook(ACE, source="ace.txt", apply=None, memory=memory.view)
    assert (imported.dry_run, imported.entries, imported.known, imported.operations) == (True, 1, 0, ())
    assert memory.view.version == 0


def test_what_is_refused_is_told(memory: Memory) -> None:
    long = "x" * 9_000
    imported = import_playbook(f"- {long}\n- short", source="l.md", apply=apply_to(memory), memory=memory.view)
    assert len(imported.added) == 1
    assert "9,000 characters" in imported.skipped[0]


def test_without_a_memory_nothing_is_known() -> None:
    operations = entries_as_operations(read_playbook(ACE), source="a")
    assert new_only(operations, None) == operations


def test_formats_and_their_names() -> None:
    assert read_as("Prose.\n\nMore.", "text").format == "text"
    assert len(read_as("Prose.\n\nMore.", " Text ").entries) == 2
    with pytest.raises(UnknownNameError, match="'auto', 'text', 'json'"):
        read_as(ACE, "acee")
    with pytest.raises(SetupError):
        read_as("Prose.", "auto")


def test_files_in_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "p.txt"
    for data, text in (
        ("\ufeff- é".encode(), "- é"),
        ("- é".encode("utf-16"), "- é"),
        (b"- caf\xe9", "- caf\ufffd"),
    ):
        path.write_bytes(data)
        assert read_file(path) == text
    for missing in (tmp_path / "none", tmp_path):
        with pytest.raises(SetupError, match="cannot be read"):
            read_file(missing)


def lines(count: int) -> str:
    return "".join(
        f"- Lesson {'abcdefghijklmnop'[number]} about {'qrstuvwxyzabcdef'[number]}\n" for number in range(count)
    )


def test_a_large_playbook_takes_several_transactions(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playbooks, "BATCH", 3)
    told: list[tuple[int, int]] = []
    imported = import_playbook(
        lines(8), source="l.md", apply=apply_to(memory), memory=memory.view, progress=lambda *at: told.append(at)
    )
    assert told == [(3, 8), (6, 8), (8, 8)]
    assert (imported.batches, len(imported.added), imported.version) == (3, 8, 3)
    assert [len(entry.operations) for entry in memory.store.journal("default")] == [3, 3, 2]
    assert len(imported.operations) == 8
    small = import_playbook(
        "- One more.", source="s.md", apply=apply_to(memory), memory=memory.view, progress=lambda *at: told.append(at)
    )
    assert (small.batches, len(told)) == (1, 3)


def test_whoever_is_stopped_goes_on_behind_what_was_stored(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playbooks, "BATCH", 3)

    def stop(done: int, total: int) -> None:
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_playbook(lines(8), source="l.md", apply=apply_to(memory), memory=memory.view, progress=stop)
    assert memory.view.count_bullets() == 6
    told: list[tuple[int, int]] = []
    rest = import_playbook(
        lines(8) + "- And another one\n- And a last lesson\n",
        source="l.md",
        apply=apply_to(memory),
        memory=memory.view,
        progress=lambda *at: told.append(at),
    )
    assert (rest.entries, rest.known, len(rest.added)) == (10, 6, 4)
    assert told == [(9, 10), (10, 10)]
    whole = Memory(HashingEmbedder())
    import_playbook(
        lines(8) + "- And another one\n- And a last lesson\n", source="l.md", apply=apply_to(whole), memory=whole.view
    )
    assert whole.view.bullets() == memory.view.bullets()


def test_what_stands_twice_is_one_bullet_whatever_transaction_it_is_in(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playbooks, "BATCH", 2)
    text = "- Check the units\n- Close the file\n- check the units.\n- Check  the units\n- Close the file\n"
    imported = import_playbook(text, source="l.md", apply=apply_to(memory), memory=memory.view)
    assert [bullet.content for bullet in memory.view.bullets()] == ["Check the units", "Close the file"]
    assert (imported.added, imported.merged) == (("misc-00001", "misc-00002"), ("misc-00001", "misc-00002"))
