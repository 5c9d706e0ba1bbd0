"""Finding a model file and reading its header."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from cheatsheet.errors import SetupError
from cheatsheet.llm.gguf_files import resolve_gguf
from cheatsheet.tokens.gguf_file import read_header
from tests.llm.local import NAME, needs_local


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def gguf(*, version: int = 3, context_length: int | None = 4096) -> bytes:
    """A header with a field of every kind and two tensors of 6 and 4 weights."""
    fields = [
        string("general.architecture") + struct.pack("<I", 8) + string("tiny"),
        string("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + string("a") + string("longer"),
        string("tokenizer.ggml.scores") + struct.pack("<IIQ2f", 9, 6, 2, 0.5, 1.5),
        string("nested") + struct.pack("<IIQ", 9, 9, 1) + struct.pack("<IQ3b", 1, 3, 1, 2, 3),
        string("flag") + struct.pack("<I?", 7, True),
        string("large") + struct.pack("<IQ", 10, 2**40),
    ]
    if context_length is not None:
        fields.append(string("tiny.context_length") + struct.pack("<II", 4, context_length))
    tensors = [
        string("first") + struct.pack("<I2QIQ", 2, 2, 3, 0, 0),
        string("second") + struct.pack("<IQIQ", 1, 4, 0, 64),
    ]
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(fields))
    return head + b"".join(fields) + b"".join(tensors)


@pytest.mark.parametrize("version", [2, 3])
def test_every_kind_of_field_is_read(tmp_path: Path, version: int) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf(version=version))
    header = read_header(path)
    assert (header.context_length, header.parameters) == (4096, 10)
    assert header.metadata["general.architecture"] == "tiny"
    assert header.metadata["tokenizer.ggml.tokens"] == ["a", "longer"]
    assert header.metadata["nested"] == [[1, 2, 3]]
    assert (header.metadata["flag"], header.metadata["large"]) == (True, 2**40)


def test_a_file_may_keep_silent_about_its_window(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf(context_length=None))
    assert read_header(path).context_length is None


def test_a_file_cut_anywhere_is_told_with_its_name(tmp_path: Path) -> None:
    whole = gguf()
    for length in range(len(whole)):
        path = tmp_path / f"cut-{length}.gguf"
        path.write_bytes(whole[:length])
        with pytest.raises(SetupError, match=f"cut-{length}.gguf' is not a GGUF file that can be used"):
            read_header(path)


@pytest.mark.parametrize("content", [b"<html>not found</html>" * 9, gguf(version=1), gguf(version=9)])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.gguf"
    path.write_bytes(content)
    with pytest.raises(SetupError, match=r"other\.gguf"):
        read_header(path)


@needs_local
def test_the_packaged_model() -> None:
    header = read_header(resolve_gguf(NAME))
    assert (header.context_length, header.parameters) == (8192, 134_515_008)


@needs_local
def test_a_path_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tiny.gguf").write_bytes(gguf())
    monkeypatch.chdir(tmp_path)
    assert resolve_gguf("local/tiny.gguf") == (tmp_path / "tiny.gguf").resolve()
