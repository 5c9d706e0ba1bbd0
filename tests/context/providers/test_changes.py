"""What changed since last time, and the state that remembers it."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.context.providers.changes import Changes, change_lines, compute_changes
from cheatsheet.context.providers.state import ContextState, load_state, save_state
from cheatsheet.errors import StoreReadOnlyError

tables = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("xyz"))


@given(tables, tables)
def test_changes_lead_from_one_table_to_the_other(current: dict[str, str], previous: dict[str, str]) -> None:
    changes = compute_changes(current, previous)
    rebuilt = {path: previous[path] for path in previous if path not in changes.removed}
    rebuilt |= {path: current[path] for path in (*changes.changed, *changes.added)}
    assert rebuilt == current
    assert bool(changes) == (current != previous)
    back = compute_changes(previous, current)
    assert (back.added, back.removed, back.changed) == (changes.removed, changes.added, changes.changed)


def test_changes_are_told_by_what_they_mean() -> None:
    changes = Changes(
        changed=("MEMORY.md", "SOUL.md", "USER.md", "skills/mail/SKILL.md", "skills/web/fetch.py"),
        added=("TOOLS.md", "skills/new/SKILL.md", "skills/new/run.py", "skills/mail/more.py"),
        removed=("HEARTBEAT.md", "skills/old/SKILL.md", "skills/old/run.py"),
    )
    assert change_lines(changes) == (
        "HEARTBEAT.md is gone.",
        "MEMORY.md changed: long-term memory was updated.",
        "SOUL.md changed: your character has evolved.",
        "TOOLS.md is new.",
        "USER.md changed: the user's preferences were updated.",
        "The skill mail was updated; read it again.",
        "The skill new was discovered.",
        "The skill old is gone.",
        "The skill web was updated; read it again.",
    )


@given(st.dictionaries(st.text(max_size=8), tables, max_size=3), st.integers(0, 10**9))
def test_a_state_comes_back_as_it_was_kept(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, dict[str, str]], log_bytes: int
) -> None:
    home = tmp_path_factory.getbasetemp()
    state = ContextState(files=files, log_day=date(2026, 1, 5), log_bytes=log_bytes)
    save_state(home, state)
    assert load_state(home) == (state, "")


def test_a_home_without_a_state_has_seen_nothing(tmp_path: Path) -> None:
    state, problem = load_state(tmp_path / "absent")
    assert (state.is_first, problem) == (True, "")


@pytest.mark.parametrize(
    "content",
    [
        *["", "{", "[]", "null", '"x"', '{"version": 2}', '{"version": 1, "files": [], "log_day": null}', "[" * 99_999],
        json.dumps({"version": 1, "files": {"a": 1}, "log_day": None, "log_bytes": 0}),
        json.dumps({"version": 1, "files": {}, "log_day": "tomorrow", "log_bytes": 0}),
    ],
)
def test_a_damaged_state_counts_as_none_and_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "state.json").write_text(content, encoding="utf-8")
    state, problem = load_state(tmp_path)
    assert state == ContextState()
    assert problem.startswith("state.json ")
    assert problem.endswith("changes are told from the next time on.")


def test_a_state_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    (tmp_path / "state.json").mkdir()
    with pytest.raises(StoreReadOnlyError, match="Cannot write"):
        save_state(tmp_path, ContextState())
