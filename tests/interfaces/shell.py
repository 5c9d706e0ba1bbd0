"""The command line, run in this process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cheatsheet.interfaces import cli


class Shell:
    """Runs commands in this process, on one memory."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, stdout, stderr."""
        with pytest.raises(SystemExit) as stop:
            cli.main(list(arguments))
        out, err = self._capsys.readouterr()
        code = stop.value.code
        return (code if isinstance(code, int) else 0), out, err

    def json(self, *arguments: str) -> Any:
        code, out, err = self(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)
