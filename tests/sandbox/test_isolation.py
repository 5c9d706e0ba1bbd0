"""What a program can reach, and that it is told (S7)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cheatsheet.errors import SetupError
from cheatsheet.sandbox.isolation import OPEN, PRIVATE
from cheatsheet.sandbox.sandbox import Ending, Sandbox
from cheatsheet.sandbox.scripted import ScriptedSandbox
from cheatsheet.sandbox.subprocess_sandbox import SubprocessSandbox
from tests.sandbox.conftest import Make


class TestPrivate:
    """With bubblewrap."""

    def test_no_network(self, private: Make) -> None:
        done = private().run("import socket\nprint([name for _, name in socket.if_nameindex()])")
        assert done.output == "['lo']\n"
        assert done.isolation == PRIVATE

    def test_no_file_of_this_user(self, private: Make, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("sk-123")
        done = private().run(f"print(open({str(secret)!r}).read())")
        assert "FileNotFoundError" in done.output
        assert "sk-123" not in done.output

    def test_no_other_process(self, private: Make) -> None:
        done = private().run("import os\nprint(sorted(int(name) for name in os.listdir('/proc') if name.isdigit()))")
        assert done.output == "[1, 2]\n"

    @pytest.mark.parametrize("folder", ["/", "/usr", "/dev", sys.prefix])
    def test_nothing_but_its_folder_can_be_written(self, private: Make, folder: str) -> None:
        done = private().run(f"open({folder + '/new'!r}, 'w')")
        assert "Read-only file system" in done.output

    def test_all_files_together_are_bounded(self, private: Make) -> None:
        """X13"""
        done = private(file_mib=1).run("for n in range(9):\n    open(str(n), 'wb').write(bytes(2**18))")
        assert done.ended is Ending.FILES


class TestOpen:
    """Without bubblewrap the result says so."""

    def test_left_out(self, plain: Make) -> None:
        done = plain().run("x = 1")
        assert done.isolation == f"bubblewrap is not used: {OPEN}"

    def test_not_installed(self, fresh_detection: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        done = SubprocessSandbox().run("print('all the same')")
        assert done.output == "all the same\n"
        assert done.isolation == f"bubblewrap is not installed: {OPEN}"

    def test_installed_but_without_effect(
        self, fresh_detection: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As in many containers, which may make no namespaces."""
        program = tmp_path / "bwrap"
        program.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        sandbox = SubprocessSandbox()
        assert sandbox.isolation == (f"bubblewrap does not work here (No permissions to create new namespace): {OPEN}")
        with pytest.raises(SetupError, match=r"have to run isolated, but bubblewrap does not work here"):
            SubprocessSandbox(isolation="required")


def test_where_programs_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(SetupError, match=r"on Linux only; this is 'win32'. Leave run_code off"):
        SubprocessSandbox()


def test_a_scripted_sandbox_is_a_sandbox() -> None:
    sandbox = ScriptedSandbox(["4\n"])
    assert isinstance(sandbox, Sandbox)
    assert sandbox.run("print(2 + 2)").output == "4\n"
    assert sandbox.ran == ["print(2 + 2)"]
    with pytest.raises(AssertionError, match="1 results, and this is program 2"):
        sandbox.run("print(5)")
