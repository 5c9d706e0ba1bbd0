"""`history`, `blame`, `diff`, `rollback`, `show --as-of`: the past of a memory on the command line."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.memory.experience import Experience, Feedback
from cheatsheet.memory.history.journal import Change
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Tag, Update
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from tests.interfaces.shell import Shell

GOLDEN = Path(__file__).parents[1] / "golden"
NOW = datetime(2026, 1, 5, 7, 30, tzinfo=UTC)


def add(content: str, section: str = "others") -> Add:
    return Add(draft=Draft(content=content, section=section))


def write(path: Path) -> None:
    """A memory with a short life: two lessons that are used, an import, a merge, a person's hand, an archiving."""
    store = SqliteStore(path)
    model = {"mode": "retrieval", "model": "openai/gpt-4o-mini"}

    def commit(*operations: Operation, turn_id: str = "", cause: str = "turn", **more: Any) -> None:
        at = NOW + timedelta(minutes=7 * len(store.journal("default")))
        lived = tuple(
            Experience(query=query, answer=answer, feedback=feedback, created_at=at)
            for query, answer, feedback in more.pop("lived", ())
        )
        by = model if cause == "turn" else {}
        change = {"at": at, "cause": cause, "turn_id": turn_id, "operations": operations, "experiences": lived}
        store.commit("default", Change.model_validate(change | by | more))

    train = (
        "A train covers 90 km in 45 minutes. How fast is it, in km/h?",
        "2",
        Feedback(correct=False, expected="120"),
    )
    commit(
        add("Convert minutes to hours before you divide.", "FORMULAS & CALCULATIONS"),
        turn_id="t-1", lived=[train], notes=("The answer has no unit.",),
    )  # fmt: skip
    snail = ("How fast is a snail that creeps 3 m in 10 minutes?", "0.018 km/h", Feedback(correct=True))
    used = Tag(id="calc-00001", helpful=1, uses=1)
    commit(add("State the unit of every result."), used, turn_id="t-2", lived=[snail])
    for turn in ("t-3", "t-4", "t-5"):
        commit(Tag(id="calc-00001", uses=1), turn_id=turn)
    commit(add("Always give the unit with the result."), cause="import")
    united = "Give every result with its unit."
    commit(Merge(into="misc-00002", absorbed=("misc-00003",), content=united), cause="refine")
    words = "Convert minutes to hours before you divide;\n45 minutes are 0.75 hours."
    commit(Update(id="calc-00001", content=words, section="meta strategies", tags=("time", "units")), cause="user")
    gone = (Remove(id="misc-00002", reason="harmful"), Remove(id="exp-00001", reason="least recently used"))
    commit(*gone, turn_id="t-6", lived=[("What is 10 % of 50?", "5", Feedback())])
    store.close()


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHEATSHEET_PATH", str(tmp_path / "memory.db"))
    write(tmp_path / "memory.db")
    return Shell(capsys)


def test_the_commands_as_people_read_them(shell: Shell) -> None:
    """UPDATE_GOLDEN=1 writes the golden file anew."""
    said = []
    for command in (
        "history --limit 4",
        "history --turn t-2",
        "history --bullet misc-00002",
        "blame calc-00001",
        "blame misc-00003",
        "diff 3",
        "diff t-2 2026-01-05T08:12",
        "diff 9 2",
        "diff 9",
        "show --as-of t-2",
        "rollback t-2 --dry-run",
        "rollback t-2",
        "rollback t-2",
        "rollback 9",
        "diff 0 0",
    ):
        code, out, err = shell(*command.split())
        assert code == 0, err
        said.append(f"$ cheatsheet {command}\n{out}{err}")
    text = "\n".join(said)
    golden = GOLDEN / "past_commands.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8", newline="\n")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["diff", "99"], "There is no version 99. Versions go from 1 (2026-01-05 07:30) to 9 (2026-01-05 08:26)"),
        (["diff", "1", "never"], "'never' is neither a version nor a turn nor a time."),
        (["rollback", "2025-01-01"], "The memory has nothing from 2025-01-01 00:00 or before."),
        (["show", "--as-of", "t-99"], "'t-99' is neither"),
        (["blame", "misc-00099"], "There never was a bullet 'misc-00099'"),
        (["history", "--bullet", "exp-00001"], "There never was a bullet 'exp-00001'"),
        (["history", "--turn", "t-99"], "There is no turn 't-99'"),
        (["history", "--turn", "t-1", "--bullet", "calc-00001"], "cannot be given together"),
    ],
)
def test_mistakes_are_sentences_and_change_nothing(shell: Shell, arguments: list[str], sentence: str) -> None:
    code, out, err = shell(*arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err
    assert len(shell.json("history")) == 9


def test_programs_get_json(shell: Shell) -> None:
    made, *_, archived = shell.json("blame", "calc-00001")
    assert (made["version"], made["turn_id"], made["model"], made["before"]) == (1, "t-1", "openai/gpt-4o-mini", None)
    assert made["experiences"][0]["feedback"] == {"correct": False, "score": None, "expected": "120", "comment": ""}
    assert made["operation"]["type"] == "add"
    assert archived["after"]["tags"] == ["time", "units"]
    told = shell.json("diff", "2", "9")
    assert (told["from"], told["to"]) == (2, 9)
    assert [bullet["id"] for bullet in told["archived"]] == ["misc-00002"]
    assert [(pair["id"], pair["uses"]) for pair in told["recounted"]] == [("calc-00001", [1, 4])]
    assert told["experiences_added"] == ["exp-00003"]
    (entry,) = shell.json("history", "--turn", "t-6")
    assert [operation["type"] for operation in entry["operations"]] == ["remove", "remove"]
    assert [touch["version"] for touch in shell.json("history", "--bullet", "misc-00002", "--limit", "2")] == [9, 7]
    assert [bullet["content"] for bullet in shell.json("show", "--as-of", "1")] == [
        "Convert minutes to hours before you divide."
    ]
    dry = shell.json("rollback", "2", "--dry-run")
    assert (dry["to"], dry["version"], dry["dry_run"]) == (2, 9, True)
    done = shell.json("rollback", "2")
    assert (done["to"], done["version"], done["dry_run"]) == (2, 10, False)
    assert {name: value for name, value in done.items() if name not in ("version", "dry_run")} == {
        name: value for name, value in dry.items() if name not in ("version", "dry_run")
    }
    assert shell.json("history", "--limit", "1")[0]["cause"] == "rollback"
    assert shell.json("show", "--as-of", "9", "--status", "all") != shell.json("show", "--status", "all")
    assert len(shell.json("show")) == 2


def test_on_a_terminal_the_cells_are_a_table(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    _, out, _ = shell("blame", "misc-00002")
    assert "\t" not in out
    assert "merged with misc-00003" in out
