"""What the tests of the doors share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.shell import Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHEATSHEET_EMBEDDER", "hashing")
    return Shell(capsys)
