"""A whole engine on PostgreSQL, and several processes on one memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import cheatsheet
from benchmarks.perf.postgres_server import PostgresServer
from cheatsheet.errors import SettingsError, TaskError
from cheatsheet.evaluation.adaptation.adapt import adapt
from cheatsheet.interfaces.cli.moving import migrate
from cheatsheet.memory.postgres.postgres_store import PostgresStore
from cheatsheet.memory.sqlite.sqlite_store import SqliteStore
from cheatsheet.settings import load_settings
from tests.evaluation.adaptation.test_adapt_engine import TRAIN, VALIDATION, Router
from tests.memory.postgres.worlds import TIMEOUT_S, add, check, contents, learn
from tests.memory.stores import new_url

ROOT = Path(__file__).parents[3]
LEARNS = 25
CHILD = f"""
import sys
import cheatsheet

url, name = sys.argv[1:]
with cheatsheet.open(url, embedder="hashing", mode="retrieval") as memory:
    for number in range({LEARNS}):
        question = f"What is {{name}} {{number}}?"
        memory.learn(question, "so", expected=f"{{name}} number {{number}}", turn_id=f"{{name}}-{{number}}")
        assert f"{{name}} number {{number}}" in memory.recall(question).text
"""


@pytest.mark.parametrize("search", ["vectors", "hybrid"])
@pytest.mark.parametrize("index", ["auto", "exact"])
def test_an_engine_learns_recalls_and_goes_back(postgres_url: str, index: str, search: str) -> None:
    settings: dict[str, Any] = {"embedder": "hashing", "index": index, "search": search}
    with cheatsheet.open(postgres_url, mode="retrieval", **settings) as memory:
        memory.learn("What is the capital of France?", "Lyon", expected="Paris", turn_id="t1")
        memory.learn("Which team takes ORA-00942?", "amber", expected="crimson")
        assert "Paris" in memory.recall("the capital of France").text
        assert "crimson" in memory.recall("ORA-00942").text
        memory.apply([add("Check the units of every number."), add("Check the units of every number!")])
        assert memory.stats().bullets >= 1
        memory.refine(full=True)
        memory.rollback("t1")
        assert "crimson" not in memory.recall("ORA-00942").text
        before = memory.recall("the capital of France").text
    with cheatsheet.open(postgres_url, mode="retrieval", **settings) as again:
        assert again.recall("the capital of France").text == before
    store = PostgresStore(postgres_url, timeout_s=TIMEOUT_S)
    check(store)
    store.close()


def test_processes_that_learn_at_once_lose_nothing(postgres_url: str) -> None:
    names = ("red", "green")
    children = [subprocess.Popen([sys.executable, "-c", CHILD, postgres_url, name], cwd=ROOT) for name in names]
    assert [child.wait() for child in children] == [0, 0]
    store = PostgresStore(postgres_url, timeout_s=TIMEOUT_S)
    turns = [entry.turn_id for entry in store.journal("default")]
    assert sorted(turns) == sorted(f"{name}-{number}" for name in names for number in range(LEARNS))
    experiences = [experience.id for experience in store.experiences("default")]
    assert experiences == [f"exp-{number:05d}" for number in range(1, 2 * LEARNS + 1)]
    check(store)
    store.close()


def test_what_another_process_learns_is_found_at_the_next_recall(postgres_url: str) -> None:
    with (
        cheatsheet.open(postgres_url, mode="retrieval", embedder="hashing") as one,
        cheatsheet.open(postgres_url, mode="retrieval", embedder="hashing") as two,
    ):
        for number in range(5):
            one.learn(f"Where is parcel {number}?", "here", expected=f"in depot {number}")
            assert f"in depot {number}" in two.recall(f"Where is parcel {number}?").text


def test_an_adaptation_lives_on_a_server_and_shows_no_password(postgres_url: str, tmp_path: Path) -> None:
    url = postgres_url.replace("postgres@", "postgres:s3cret@")
    shown = load_settings(path=url).memory_shown
    more: dict[str, Any] = {"folder": tmp_path / "run", "epochs": 2, "scorer": "choice", "memory_shown": shown}
    with cheatsheet.open(url, mode="retrieval", embedder="hashing", model=Router()) as memory:
        adaptation = adapt(memory, TRAIN, VALIDATION, **more)
        assert adaptation.answered == 12
        memory.rollback(1)
    assert all(b"s3cret" not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    lost = r"the memory postgresql://postgres@/postgres\?host=\S+ does not know of it"
    another = cheatsheet.open(new_place(url), mode="retrieval", embedder="hashing", model=Router())
    with another, pytest.raises(TaskError, match=lost):
        adapt(another, TRAIN, VALIDATION, resume=True, **more)


def new_place(url: str) -> str:
    """An empty memory beside another."""
    return f"{url}_more"


def test_a_setting_that_a_file_cannot_have_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="pgvector"):
        cheatsheet.open(tmp_path / "memory.db", index="pgvector", embedder="hashing").recall("anything")


def test_the_command_line_moves_a_memory(tmp_path: Path, postgres_server: PostgresServer) -> None:
    path, url = tmp_path / "memory.db", new_url(postgres_server)
    source = SqliteStore(path)
    learn(source, "one", "two")
    source.close()
    app = typer.Typer()
    app.command()(migrate)
    done = CliRunner().invoke(app, [str(path), url, "--json"], catch_exceptions=False)
    assert json.loads(done.stdout) == {"namespaces": 1, "entries": 1, "bullets": 2, "experiences": 0, "embeddings": 0}
    assert "moved: 4 of 4 rows" in done.stderr
    store = PostgresStore(url, timeout_s=TIMEOUT_S)
    assert contents(store) == ["one", "two"]
    store.close()
    told = CliRunner().invoke(app, [url, str(tmp_path / "back.db")], catch_exceptions=False)
    assert "moved and verified: 1 namespaces, 1 entries, 2 bullets" in told.stderr
