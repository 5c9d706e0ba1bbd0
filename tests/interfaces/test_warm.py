"""`cheatsheet warm`: the embedding model is exported once, or what is in the way is told in a sentence."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import pytest

from indexes.errors import EmbedderUnavailableError
from tests.indexes.implementations import exported_embedder
from tests.interfaces.shell import Shell

EXPORTED = {"model": "all-MiniLM-L6-v2", "made": True}


@pytest.fixture
def home(shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The shell's home; the embedder is the default one."""
    monkeypatch.setenv("CHEATSHEET_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CHEATSHEET_EMBEDDER", "auto")
    return tmp_path / "home"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is exported: the export that all tests share stands in for the half minute that it takes."""
    shared, names = exported_embedder("fp32").prepare(), []

    def export(embedder: Any, source: Path, place: Path) -> None:
        if not place.exists():
            names.append(embedder.model_id)
            shutil.copytree(shared, place)

    monkeypatch.setattr("indexes.onnx_export.export", export)
    return names


def test_the_model_is_exported_once(shell: Shell, home: Path, made: list[str]) -> None:
    code, out, err = shell("warm")
    assert (code, out) == (0, "")
    assert err.startswith("Exporting the embedding model; this takes up to a minute, once.")
    (place,) = (home / "embedders").iterdir()
    assert err.endswith(f"all-MiniLM-L6-v2 is exported: {place}\n")
    assert shell("warm")[2] == f"all-MiniLM-L6-v2 was exported before: {place}\n"
    assert shell.json("warm") == EXPORTED | {"folder": str(place), "made": False}
    assert made == ["all-MiniLM-L6-v2"]


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("name", ["auto", "onnx", "all-MiniLM-L6-v2", "onnx:all-MiniLM-L6-v2"])
def test_whatever_the_model_is_called_it_is_exported(shell: Shell, home: Path, name: str) -> None:
    told = shell.json("warm", "--embedder", name)
    assert told == EXPORTED | {"folder": str(next((home / "embedders").iterdir()))}


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("name", ["hashing", "litellm:openai/text-embedding-3-small"])
def test_where_there_is_no_model_there_is_nothing_to_export(shell: Shell, name: str) -> None:
    code, _, err = shell("warm", "--embedder", name)
    assert code == 2
    assert f"embedder={name!r} is no model of this machine, so that there is nothing to export. Use 'auto'" in err


@pytest.mark.parametrize("package", ["onnxruntime", "onnx", "onnxscript"])
def test_a_missing_package_is_named_with_its_extra(
    shell: Shell, home: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *a: None if name == package else find(name, *a))
    code, out, err = shell("warm")
    assert (code, out) == (2, "")
    assert err == f"Error: warm needs {package}: pip install 'cheatsheet[onnx]'.\n"
    assert not home.exists()


@pytest.mark.usefixtures("made")
def test_what_was_exported_needs_no_exporter(shell: Shell, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell("warm")
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *a: None if name.startswith("onnxs") else find(name, *a)
    )
    assert shell.json("warm")["made"] is False


def test_a_failing_export_is_a_sentence_and_leaves_no_model(
    shell: Shell, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise EmbedderUnavailableError("The export gives other vectors.")

    monkeypatch.setattr("indexes.onnx_export._exported", broken)
    code, out, err = shell("warm")
    assert (code, out, err.splitlines()[-1]) == (1, "", "Error: The export gives other vectors.")
    assert [path.suffix for path in (home / "embedders").iterdir()] == [".lock"]


@pytest.mark.usefixtures("home")
def test_a_folder_without_a_model(shell: Shell) -> None:
    code, _, err = shell("warm", "--embedder", "./nowhere")
    assert code == 1
    assert "There is no folder './nowhere' with an embedding model." in err
