"""What a command loads before it answers: that, and not a stop watch, keeps `cheatsheet recall` under a second."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.indexes.implementations import exported_embedder, exports
from tests.interfaces.shell import Shell

HEAVY = frozenset(
    "torch sentence_transformers transformers huggingface_hub litellm faiss scipy sklearn onnx pandas pyarrow yaml "
    "json_repair rich httpx requests psycopg mcp ray altair xllamacpp".split()
)

PROGRAM = """
import sys
from cheatsheet.interfaces.cli import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    assert not stop.code, stop.code
print("loaded:", sorted(name for name in sys.modules if "." not in name))
"""


@pytest.fixture
def warm(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the exported model, as `cheatsheet warm` leaves it, and a memory with one lesson."""
    exported_embedder("fp32").prepare()
    home = tmp_path / "home"
    home.mkdir()
    (home / "embedders").symlink_to(exports())
    monkeypatch.setenv("CHEATSHEET_HOME", str(home))
    monkeypatch.setenv("CHEATSHEET_EMBEDDER", "auto")
    shell("learn", "My card was charged twice", "crimson", "--feedback", "wrong: ask the amber team")
    return home


@pytest.mark.usefixtures("warm")
def test_recall_loads_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "recall", "My card was charged two times"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    assert "ask the amber team" in done.stdout
    loaded = done.stdout.splitlines()[-1]
    assert "'onnxruntime'" in loaded, "the exported model was used"
    assert not [name for name in sorted(HEAVY) if f"'{name}'" in loaded]


@pytest.mark.parametrize("command", [["show"], ["history"], ["settings"]])
@pytest.mark.usefixtures("warm")
def test_looking_embeds_nothing(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *command], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1]
    assert not [name for name in sorted(HEAVY | {"onnxruntime", "tokenizers", "tiktoken"}) if f"'{name}'" in loaded]
