"""`cheatsheet mcp`."""

from __future__ import annotations

import socket
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cheatsheet.errors import SetupError
from cheatsheet.interfaces.mcp import http, run
from cheatsheet.interfaces.mcp.opened import OpenedOnce
from cheatsheet.settings import load_settings

ROOT = Path(__file__).parent.parent.parent.parent


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)


def test_without_the_sdk_it_says_what_to_install() -> None:
    ran = run_python(
        "import sys; sys.modules['mcp'] = None; from cheatsheet.interfaces.cli import mcp; mcp._imported()"
    )
    assert ran.stderr.splitlines()[-1].startswith("cheatsheet.errors.MissingExtraError: The MCP server needs the")
    assert "pip install '.[mcp]'" in ran.stderr


@pytest.mark.parametrize(
    ("thread", "told"),
    [
        ("", "told at the end\n"),  # what is registered for the end is called
        ("threading.Thread(target=threading.Event().wait).start()", ""),  # one that cannot be stopped is left
    ],
)
def test_the_process_ends_whatever_still_runs(thread: str, told: str) -> None:  # M06
    ran = run_python(
        f"""
import atexit, threading
from cheatsheet.interfaces.mcp.ending import Ending
ending = Ending()
atexit.register(print, "told at the end")
{thread}
ending.leave(130)
"""
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, told, "")


def test_the_log_is_that_of_the_day_in_the_home(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    append = run.log_of(settings, lambda: datetime(2026, 1, 5, 7, 30, tzinfo=UTC))
    assert append("Sorted parcels.") == "2026-01-05.md"
    assert "## 07:30\n\nSorted parcels.\n" in (tmp_path / "memory" / "2026-01-05.md").read_text()


def test_an_address_that_cannot_be_had_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object, **named: object) -> None:
        raise OSError(98, "Address already in use")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(SetupError, match="port 8765: Address already in use"):
        http.listen("127.0.0.1", 8765)


async def _say(why: str) -> str:
    return why


def test_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    closed: list[str] = []

    class Engine:
        def close(self) -> None:
            closed.append("closed")

    engine = OpenedOnce(Engine)  # type: ignore[arg-type]  # closing is all that is asked of it
    engine.get()
    assert run.finish(lambda: _say(""), engine) == 0
    assert run.finish(lambda: _say("The line was too long."), engine) == 1
    assert capsys.readouterr().err == "Error: The line was too long.\n"
    assert closed == ["closed", "closed"]
