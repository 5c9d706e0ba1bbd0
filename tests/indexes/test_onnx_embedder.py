"""The default model on ONNX Runtime: the vectors of the model itself, without torch, never those of another model."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexes.errors import EmbedderUnavailableError
from indexes.model_folder import packaged_folder
from indexes.onnx_embedder import OnnxEmbedder
from indexes.onnx_folder import INT8_MODEL, MODEL, TOKENIZER, WEIGHTS, read_export, stamp_of
from indexes.onnx_session import OnnxSession
from tests.indexes.implementations import default_embedder, exported_embedder, exports

TEXTS = [
    "My card was charged twice.",
    "ALL CAPITALS, and a number: 3.14 %",
    "如何重置密码",
    "a",
    "word " * 1_000,
    "🙂",
    "def f(x):\n    return x  # E4",
]


@pytest.fixture(scope="module")
def place() -> Path:
    """Of the export that all tests share."""
    return exported_embedder("fp32").prepare()


@pytest.fixture
def model() -> Path:
    folder = packaged_folder()
    assert folder is not None
    return folder


def test_the_rows_are_those_of_the_model_itself() -> None:
    for kind in ("query", "document"):
        ours = exported_embedder("fp32").embed(TEXTS, kind)
        assert np.abs(ours - default_embedder().embed(TEXTS, kind)).max() < 1e-4


@pytest.mark.usefixtures("place")
def test_neither_torch_nor_transformers_is_loaded() -> None:
    script = """
import os, sys
from pathlib import Path
from indexes.onnx_embedder import OnnxEmbedder
embedder = OnnxEmbedder(cache=Path(os.environ["TEST_EXPORTS"]))
print(embedder.ready, embedder.model_id, embedder.dim, embedder.symmetric, embedder.embed(["a text"]).shape)
print([name for name in ("torch", "sentence_transformers", "transformers") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["True all-MiniLM-L6-v2 384 True (1, 384)", "[]"]


def test_int8_is_near_and_has_a_name_of_its_own(place: Path) -> None:
    rows = exported_embedder("int8").embed(TEXTS)
    cosines = (rows * exported_embedder("fp32").embed(TEXTS)).sum(axis=1)
    assert exported_embedder("int8").model_id == "all-MiniLM-L6-v2+int8"
    assert 0.9 < cosines.min() < 0.9999
    assert (place / INT8_MODEL).stat().st_size < (place / WEIGHTS).stat().st_size / 2


@pytest.mark.usefixtures("place")
def test_an_export_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexes.onnx_export._write_graph", lambda *_: pytest.fail("exported again"))
    again = OnnxEmbedder(cache=exports())
    assert again.ready
    assert again.embed(["a text"]).shape == (1, 384)


def test_threads_of_one_process_share_a_session() -> None:
    embedder, texts = exported_embedder("fp32"), [f"text number {number}" * (number + 1) for number in range(6)]
    expected = embedder.embed(texts)
    rows: dict[int, np.ndarray] = {}

    def embed(number: int) -> None:
        rows[number] = embedder.embed([texts[number]])[0]

    threads = [threading.Thread(target=embed, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.allclose(np.stack([rows[number] for number in range(6)]), expected, atol=1e-5)


def test_a_model_that_was_copied_is_known_by_its_content(place: Path, model: Path, tmp_path: Path) -> None:
    """Its files have other times, and the same hash."""
    source, copy = tmp_path / "model", tmp_path / "export"
    shutil.copytree(model, source)
    shutil.copytree(place, copy)
    os.utime(source / "config.json", (0, 0))
    assert stamp_of(source) != stamp_of(model)
    assert read_export(copy, source) is not None
    assert json.loads((copy / "export.json").read_text())["stamp"] == stamp_of(source)


def test_a_model_that_changed_is_not_served_from_its_old_export(place: Path, model: Path, tmp_path: Path) -> None:
    source = tmp_path / "model"
    shutil.copytree(model, source)
    (source / "config.json").write_text((source / "config.json").read_text().replace("gelu", "relu"))
    assert read_export(place, source) is None


@pytest.mark.parametrize("name", [MODEL, WEIGHTS, TOKENIZER, "export.json"])
def test_an_export_that_lacks_a_file_is_none(place: Path, model: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "export"
    shutil.copytree(place, copy)
    (copy / name).unlink()
    assert read_export(copy, model) is None


def test_an_export_that_was_cut_is_none(place: Path, model: Path, tmp_path: Path) -> None:
    copy = tmp_path / "export"
    shutil.copytree(place, copy)
    os.truncate(copy / WEIGHTS, (copy / WEIGHTS).stat().st_size - 1)
    assert read_export(copy, model) is None


def test_an_export_of_an_earlier_version_is_still_used(place: Path, model: Path, tmp_path: Path) -> None:
    """One file held graph and weights, and sizes were not noted."""
    import onnx

    copy = tmp_path / "export"
    shutil.copytree(place, copy, ignore=shutil.ignore_patterns(INT8_MODEL))
    onnx.save(onnx.load(copy / MODEL), copy / MODEL, save_as_external_data=False)
    (copy / WEIGHTS).unlink()
    about = json.loads((copy / "export.json").read_text())
    del about["sizes"]
    (copy / "export.json").write_text(json.dumps(about))
    exported = read_export(copy, model)
    assert exported is not None
    rows = OnnxSession(exported, copy).embed(TEXTS[:3], "document")
    assert np.abs(rows - exported_embedder("fp32").embed(TEXTS[:3])).max() < 1e-6


@pytest.mark.parametrize("name", [MODEL, TOKENIZER])
def test_a_damaged_file_is_named_with_what_to_do(place: Path, model: Path, tmp_path: Path, name: str) -> None:
    """Its size is right, so that only loading tells."""
    copy = tmp_path / "export"
    shutil.copytree(place, copy)
    (copy / name).write_bytes(bytes((copy / name).stat().st_size))
    exported = read_export(copy, model)
    assert exported is not None
    with pytest.raises(EmbedderUnavailableError, match=rf"'{name}' of the export of .* Delete the folder '{copy}'"):
        OnnxSession(exported, copy).embed(["a text"], "document")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 99}', "null"])
def test_an_export_that_cannot_be_read_is_none(place: Path, model: Path, tmp_path: Path, text: str) -> None:
    copy = tmp_path / "export"
    shutil.copytree(place, copy)
    (copy / "export.json").write_text(text)
    assert read_export(copy, model) is None


def test_an_export_with_other_vectors_is_not_kept(monkeypatch: pytest.MonkeyPatch, place: Path, tmp_path: Path) -> None:
    def copied(_model: object, _about: object, path: Path) -> None:
        for name in (MODEL, WEIGHTS):
            shutil.copy(place / name, path.with_name(name))

    monkeypatch.setattr("indexes.onnx_export._write_graph", copied)
    monkeypatch.setattr("indexes.onnx_export.TOLERANCE", -1.0)
    with pytest.raises(EmbedderUnavailableError, match="gives other vectors than the model itself"):
        OnnxEmbedder(cache=tmp_path).embed(["a text"])
    assert not [path for path in tmp_path.rglob("*") if path.name == MODEL]


def test_a_model_that_cannot_be_exported_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no such operator\nand a long trace")

    monkeypatch.setattr("indexes.onnx_export._write_graph", broken)
    with pytest.raises(
        EmbedderUnavailableError, match=r"cannot be exported to ONNX: no such operator\. Use it without"
    ):
        OnnxEmbedder(cache=tmp_path).embed(["a text"])


def test_a_failing_export_leaves_nothing_but_its_lock(
    monkeypatch: pytest.MonkeyPatch, place: Path, tmp_path: Path
) -> None:
    def half(*arguments: Any) -> None:
        shutil.copy(place / MODEL, arguments[-1])
        raise MemoryError

    monkeypatch.setattr("indexes.onnx_export._write_graph", half)
    monkeypatch.setattr("indexes.onnx_export._write_int8", half)
    with pytest.raises(EmbedderUnavailableError, match="cannot be exported to ONNX: MemoryError"):
        OnnxEmbedder(cache=tmp_path).prepare()
    assert [path.suffix for path in tmp_path.iterdir()] == [".lock"]
    shutil.copytree(place, tmp_path / place.name, ignore=shutil.ignore_patterns(INT8_MODEL))
    kept = sorted(tmp_path.rglob("*"))
    with pytest.raises(EmbedderUnavailableError, match="cannot be quantised: MemoryError"):
        OnnxEmbedder(cache=tmp_path, precision="int8").prepare()
    assert sorted(tmp_path.rglob("*")) == kept
    assert OnnxEmbedder(cache=tmp_path).ready


def test_what_exporting_needs_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "onnxscript" else find(name))
    with pytest.raises(EmbedderUnavailableError, match=r"onnxscript must be installed. Run: pip .*cheatsheet\[onnx\]"):
        OnnxEmbedder(cache=tmp_path).prepare()


def test_an_export_is_used_also_where_nothing_can_be_written(
    monkeypatch: pytest.MonkeyPatch, place: Path, model: Path, tmp_path: Path
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    shutil.copytree(model, tmp_path / "model")
    os.utime(tmp_path / "model" / "config.json", (0, 0))
    monkeypatch.setattr("indexes.onnx_folder.write_about", refuse)
    found = read_export(place, tmp_path / "model")
    assert found is not None
    assert found.stamp == stamp_of(tmp_path / "model")


def test_a_model_that_is_not_on_this_machine_is_not_ready(tmp_path: Path) -> None:
    assert not OnnxEmbedder("nobody/no-such-model", cache=tmp_path).ready


def test_without_the_runtime_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EmbedderUnavailableError, match=r"pip install 'cheatsheet\[onnx\]'"):
        OnnxEmbedder(cache=tmp_path)


def test_a_model_of_the_hub_must_have_been_downloaded(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailableError, match="was not downloaded"):
        OnnxEmbedder("nobody/no-such-model", cache=tmp_path).embed(["a text"])
