"""Limits and what is left behind (S2, S3, S6)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cheatsheet.errors import SettingsError
from cheatsheet.sandbox import supervised
from cheatsheet.sandbox.sandbox import Ending, SandboxLimits
from tests.sandbox.conftest import Make
from tests.sandbox.running import alive_with, new_token, sleeper, zombies

DAEMON = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, {arguments}, {{}})
    os._exit(0)
os.wait()
print('started')
"""


ENGINE = """
from cheatsheet.sandbox.subprocess_sandbox import SandboxLimits, SubprocessSandbox
code = "import subprocess, sys, time; subprocess.Popen({child}); time.sleep(60)"
SubprocessSandbox(SandboxLimits(timeout_s=60)).run(code)
"""


def _until(holds: Callable[[], bool]) -> None:
    """Wait for what another process does; one that never does it fails the test."""
    for _ in range(1000):
        if holds():
            return
        time.sleep(0.02)
    pytest.fail("It did not come to this in 20 s.")


class TestTime:
    def test_what_it_started_ends_with_it(self, make: Make) -> None:
        """X01"""
        token = new_token()
        code = f"import subprocess, sys, time\nsubprocess.Popen({sleeper(token)})\nprint('started')\ntime.sleep(60)"
        done = make(timeout_s=1.0).run(code)
        assert done.timed_out
        assert done.error == "The program was stopped after 1 s, its time limit."
        assert done.output == "started\n"
        assert alive_with(token) == []

    def test_no_zombies(self, plain: Make) -> None:
        """X02, X12: 20 time-outs, in threads, where no alarm could ring."""
        sandbox = plain(timeout_s=0.5)
        with ThreadPoolExecutor(10) as pool:
            ended = [done.ended for done in pool.map(sandbox.run, ["while True: pass"] * 20)]
        assert ended == [Ending.TIMEOUT] * 20
        assert zombies() == []

    def test_what_was_written_is_kept(self, plain: Make) -> None:
        """S5: without a line's end, too."""
        done = plain(timeout_s=1.0).run("print('so far', end='')\nwhile True: pass")
        assert done.timed_out
        assert done.output == "so far"


class TestLeftBehind:
    def test_a_child_that_keeps_stdout_open(self, make: Make) -> None:
        """X04, S2, S3: the program has ended, and so does its child."""
        token = new_token()
        done = make().run(f"import subprocess, sys\nsubprocess.Popen({sleeper(token)})\nprint('done')")
        assert (done.ended, done.output) == (Ending.FINISHED, "done\n")
        assert alive_with(token) == []

    def test_a_daemon(self, make: Make) -> None:
        """S3: one that has left its session, has lost its parents and has an empty environment."""
        token = new_token()
        done = make().run(DAEMON.format(arguments=sleeper(token)))
        assert (done.ended, done.output) == (Ending.FINISHED, "started\n")
        assert alive_with(token) == []

    def test_when_the_engine_is_killed(self, tmp_path: Path) -> None:
        """S3: nobody is left to end it but the supervisor."""
        token = new_token()
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        engine = subprocess.Popen([sys.executable, "-c", ENGINE.format(child=sleeper(token))], env=environment)
        try:
            _until(lambda: bool(alive_with(token)))
        finally:
            engine.kill()
            engine.wait()
        _until(lambda: not alive_with(token))

    def test_a_program_that_kills_its_supervisor(self, plain: Make) -> None:
        """S1, S3"""
        token = new_token()
        code = f"import os, signal, subprocess, sys, time\nsubprocess.Popen({sleeper(token)})\n"
        done = plain().run(code + "os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)")
        assert done.ended is Ending.KILLED
        assert done.error == "The program was ended together with the process that watched it."
        assert alive_with(token) == []
        assert zombies() == []

    def test_a_program_that_halts_its_supervisor(self, plain: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        """S2"""
        monkeypatch.setattr(supervised, "_END_S", 0.5)
        token = new_token()
        code = f"import os, signal, subprocess, sys, time\nsubprocess.Popen({sleeper(token)})\n"
        done = plain(timeout_s=0.5).run(code + "os.kill(os.getppid(), signal.SIGSTOP)\ntime.sleep(60)")
        assert done.ended is Ending.KILLED
        assert alive_with(token) == []

    @pytest.mark.parametrize("junk", ["", "junk", "[]", '{"left": 0}', '{"x": 1}'])
    def test_a_report_that_is_none(self, plain: Make, junk: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """S1: one of the same user could reach the pipe of the report. A supervisor that writes it stands for both."""
        monkeypatch.setattr(supervised, "source", lambda _: f"print({junk!r})")
        assert plain().run("x = 1").ended is Ending.KILLED

    def test_a_program_that_names_a_limit_that_there_is_not(self, plain: Make) -> None:
        """S1"""
        code = (
            "import os\nfor fd in range(3, 9):\n    try: os.write(fd, b'\\xff?')\n    except OSError: pass\nos._exit(1)"
        )
        assert plain().run(code).ended is Ending.FAILED


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, empty."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


class TestTemporaryFiles:
    @pytest.mark.parametrize(
        ("code", "ended"),
        [
            ("open('f', 'w').write('x')", Ending.FINISHED),
            ("open('f', 'w').write('x')\nwhile True: pass", Ending.TIMEOUT),
            ("def f(:", Ending.FAILED),
            ("open('/proc/version', 'w')", Ending.FAILED),
            ("import os\nos.makedirs('a/b')\nopen('a/b/f', 'w')\nos.chmod('a', 0)\nos.chmod('.', 0)", Ending.FINISHED),
            ("import os\nos.symlink('/', 'root')\nos.mkfifo('pipe')", Ending.FINISHED),
        ],
        ids=["ok", "timeout", "syntax error", "denied", "shut folders", "links"],
    )
    def test_none_is_left(self, make: Make, temporary: Path, code: str, ended: Ending) -> None:
        """X10, S3"""
        limit = {"timeout_s": 1.0} if ended is Ending.TIMEOUT else {}
        assert make(**limit).run(code).ended is ended
        assert list(temporary.iterdir()) == []

    def test_nor_when_the_engine_is_interrupted(
        self, make: Make, temporary: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """X10, S3: Ctrl-C while a program runs."""
        token = new_token()
        step = supervised._Streams._step

        def interrupted(streams: Any, wait_s: float) -> None:
            step(streams, wait_s)
            if streams.output.total and not interruptions:
                interruptions.append(True)
                raise KeyboardInterrupt

        interruptions: list[bool] = []
        monkeypatch.setattr(supervised._Streams, "_step", interrupted)
        code = f"import subprocess, sys, time\nsubprocess.Popen({sleeper(token)})\nprint('started')\ntime.sleep(60)"
        with pytest.raises(KeyboardInterrupt):
            make().run(code)
        assert alive_with(token) == []
        assert list(temporary.iterdir()) == []
        assert zombies() == []


CHILDREN = """
import os, time
for _ in range(20):
    if os.fork() == 0:
        time.sleep(20)
        os._exit(0)
time.sleep(20)
"""
MEMORY_OF_MANY = """
import os, time
for _ in range(5):
    if os.fork() == 0:
        data = bytearray(os.urandom(1)) * 70_000_000
        time.sleep(20)
        os._exit(0)
time.sleep(20)
"""


@pytest.mark.parametrize(
    ("code", "limits", "ended", "error"),
    [
        (
            CHILDREN,
            {"processes": 8},
            Ending.PROCESSES,
            "The program needed more than 8 processes at one time, its limit.",
        ),
        ("'a' * 10**9", {}, Ending.MEMORY, "The program needed more than 512 MiB of memory, its limit."),
        (
            MEMORY_OF_MANY,
            {"memory_mib": 256},
            Ending.MEMORY,
            "The program needed more than 256 MiB of memory, its limit.",
        ),
        (
            "while True: pass",
            {"cpu_s": 1},
            Ending.CPU,
            "The program was stopped after 1 s of processor time, its limit.",
        ),
        (
            "open('f', 'wb').write(bytes(2**21))",
            {"file_mib": 1},
            Ending.FILES,
            "The program wrote more than 1 MiB to files, its limit.",
        ),
        (
            "[open('/dev/null') for _ in range(100)]",
            {"open_files": 30},
            Ending.OPEN_FILES,
            "The program needed more than 30 open files, its limit.",
        ),
        (
            "while True: print('x' * 100_000)",
            {"flood_mib": 1},
            Ending.OUTPUT,
            "The program was stopped after 1 MiB of output, its limit.",
        ),
    ],
    ids=["processes", "memory", "memory of many", "cpu", "files", "open files", "output"],
)
def test_the_limit_is_told(make: Make, code: str, limits: dict[str, Any], ended: Ending, error: str) -> None:
    """X13, S6: stopped by limits, this process unaffected; the error says which one."""
    done = make(**limits).run(code)
    assert (done.ended, done.error) == (ended, error)


def test_root_cannot_lift_its_limits(make: Make) -> None:
    """S6: also where this process could."""
    code = "import resource as r\nr.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY, r.RLIM_INFINITY))"
    done = make().run(code)
    assert done.ended is Ending.FAILED
    assert "not allowed to raise maximum limit" in done.output


@pytest.mark.parametrize("limit", ["timeout_s", "memory_mib", "processes", "output_bytes"])
def test_a_limit_is_above_zero(limit: str) -> None:
    """X12: half a second is half a second; none at all is refused."""
    with pytest.raises(SettingsError, match=f"{limit} is 0. It must be above 0"):
        SandboxLimits(**{limit: 0})
    assert SandboxLimits(timeout_s=0.5).timeout_s == 0.5
