"""The server as a process: over real pipes by the SDK's own client, and on a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.interfaces.mcp.conftest import ok, refused
from tests.interfaces.mcp.test_stdio import OPENING, call
from tests.interfaces.mcp.test_tools import TOOLS

ROOT = Path(__file__).parent.parent.parent.parent
PATIENCE_S = 120


def command(name: str) -> list[str]:
    return [sys.executable, "-m", "tests.interfaces.mcp.servers", name]


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "CHEATSHEET_HOME": str(home), "CHEATSHEET_EMBEDDER": "hashing"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_a_session_of_the_sdk_over_a_real_pipe(tmp_path: Path) -> None:
    called: set[str] = set()
    python, *arguments = command("plain")
    server = StdioServerParameters(command=python, args=arguments, env=environment(tmp_path), cwd=ROOT)
    with (tmp_path / "stderr").open("w") as stderr:
        async with Client(stdio_client(server, errlog=stderr), read_timeout_seconds=PATIENCE_S) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS

            async def done(name: str, /, **given: Any) -> Any:
                called.add(name)
                return await ok(client, name, **given)

            await done("get_context", query="Which team takes parcels?")
            turn_id = (await done("recall", question="Which team takes parcels?"))["turn_id"]
            await done("learn", turn_id=turn_id, answer="amber")
            await done("feedback", id=turn_id, comment="wrong: parcels go to crimson", expected="crimson")
            id = (await done("add_bullet", content="Say hello first.", section="manners"))["bullet"]["id"]
            await done("update_bullet", id=id, vote="helpful")
            assert (await done("search_bullets", query="hello"))["bullets"][0]["id"] == id
            assert len((await done("list_bullets"))["bullets"]) == 2
            playbook = (await done("export_playbook"))["text"]
            await done("import_playbook", text=playbook, dry_run=True)
            await done("remove_bullet", id=id, reason="It goes without saying.")
            log = await done("log", text="Sorted parcels.")
            assert "turn" in await refused(client, "learn", turn_id="t-0", answer="amber")
            assert (await done("stats"))["bullets"] == 1
    assert called == TOOLS
    assert "Sorted parcels." in (tmp_path / "memory" / log.removeprefix("Written into ").rstrip(".")).read_text()
    assert (tmp_path / "stderr").read_text() == ""


def test_only_the_protocol_is_on_standard_output(tmp_path: Path) -> None:  # M01
    said = [
        OPENING,
        call(1, "get_context", query="It takes until the log is written."),
        call(2, "add_bullet", content="The embedder prints while it is loaded."),
        call(3, "recall", question="What does it print?"),
        call(4, "log", text="Now."),
    ]
    ran = subprocess.run(
        command("double"),
        input=b"".join(said),
        capture_output=True,
        cwd=ROOT,
        env=environment(tmp_path),
        timeout=PATIENCE_S,
        check=False,
    )
    stderr = ran.stderr.decode()
    messages = [json.loads(line) for line in ran.stdout.decode().splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    answered = {message["id"]: message["result"] for message in messages}
    assert sorted(answered) == [0, 1, 2, 3, 4], "what was asked before the end of the input is answered"
    assert "the log came" in answered[1]["content"][0]["text"], "one call does not hold up another"
    assert not any(answered[id]["isError"] for id in (1, 2, 3, 4))
    for noise in ("a banner", "Loading weights", "first stream", "from C", "from a child", "will be deprecated"):
        assert stderr.count(noise) >= 2, noise  # before anything is imported, and in a call
    assert "loaded before the first call: []" in stderr, "the first answer does not wait for heavy imports"
    assert "Traceback" not in stderr
    assert ran.returncode == 0


@pytest.mark.parametrize("name", ["plain", "double"])
def test_ctrl_c_on_a_terminal(tmp_path: Path, name: str) -> None:  # M06
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(sys.executable, command(name), environment(tmp_path))
    try:
        os.write(terminal, OPENING)
        shown = until(terminal, b"serverInfo")
        if name == "double":  # a call is under way, in a thread that cannot be stopped
            os.write(terminal, call(1, "get_context", query="q"))
            shown += until(terminal, b"loaded before the first call")
        os.write(terminal, b"\x03")
        shown += until(terminal, b"")
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        os.close(terminal)
    assert code in (130, 0)
    assert b"Traceback" not in shown
    assert b"Error" not in shown


def until(terminal: int, wanted: bytes) -> bytes:
    """What a terminal shows until something stands there; with nothing wanted, until the process has ended."""
    shown = b""
    while not wanted or wanted not in shown:
        try:
            chunk = os.read(terminal, 65_536)
        except OSError:  # so Linux tells that the other end is closed
            chunk = b""
        if not chunk:
            break
        shown += chunk
    assert wanted in shown, shown.decode()
    return shown


def test_closed_standard_streams_are_told(tmp_path: Path) -> None:
    code = "import os, sys; os.close(0); from cheatsheet.interfaces.mcp.wire import claim_stdio; claim_stdio()"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert "Standard input or output is closed" in ran.stderr
