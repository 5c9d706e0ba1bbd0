"""The default embedder: which model it finds, what it costs to open, and what it says when there is none."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from indexes.errors import EmbedderUnavailableError
from indexes.model_folder import content_hash, dim_of, is_symmetric, packaged_folder, prompt_for
from indexes.sentence_transformer import SentenceTransformerEmbedder
from indexes.vectors import Matrix
from tests.indexes.implementations import default_embedder

REMEDY = "Give the folder of a model, or leave the model out to use 'all-MiniLM-L6-v2'"


def test_opening_the_default_loads_neither_torch_nor_the_model() -> None:
    """In a process of its own, because this one has loaded them."""
    script = """
import sys
from indexes.sentence_transformer import SentenceTransformerEmbedder
embedder = SentenceTransformerEmbedder()
print(embedder.model_id, embedder.dim, embedder.symmetric)
print([name for name in ("torch", "sentence_transformers", "transformers") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["all-MiniLM-L6-v2 384 True", "[]"]


def test_importing_the_ground_loads_nothing_heavy() -> None:
    script = """
import sys
import indexes, indexes.index, indexes.exact, indexes.faiss_flat, indexes.cached, indexes.hashing
import indexes.litellm_embedder, indexes.sentence_transformer
print([name for name in ("torch", "sentence_transformers", "litellm", "faiss") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_the_files_say_is_what_the_loaded_model_says() -> None:
    embedder = default_embedder()
    rows = embedder.embed(["one text"])
    assert rows.shape == (1, embedder.dim)
    assert np.array_equal(embedder.embed(["one text"], "query"), rows) == embedder.symmetric


def test_where_the_files_say_nothing_the_loaded_model_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexes.sentence_transformer.dim_of", lambda folder: None)
    monkeypatch.setattr("indexes.sentence_transformer.is_symmetric", lambda folder: None)
    embedder = SentenceTransformerEmbedder()
    assert (embedder.dim, embedder.symmetric) == (384, True)
    asymmetric = SentenceTransformerEmbedder()
    asymmetric._model().prompts["query"] = "find: "
    assert not asymmetric.symmetric


def test_near_in_meaning_is_near_in_vectors() -> None:
    rows = default_embedder().embed(["My card was charged twice", "I was billed two times", "Where is my parcel?"])
    assert rows[0] @ rows[1] > 0.5 > rows[0] @ rows[2]


def test_nothing_is_printed_not_even_while_loading(capfd: pytest.CaptureFixture[str]) -> None:
    SentenceTransformerEmbedder().embed(["a", "b"])
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_several_threads_may_embed_at_once() -> None:
    """A tokenizer that is used by two threads raises "Already borrowed"."""
    embedder, texts = default_embedder(), [f"text number {number}" * (number + 1) for number in range(6)]
    expected, results = embedder.embed(texts), list[Matrix]()
    threads = [threading.Thread(target=lambda: results.append(embedder.embed(texts))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(np.allclose(rows, expected, atol=1e-5) for rows in results)


def test_the_name_with_its_organisation_is_the_packaged_model_too() -> None:
    embedder = SentenceTransformerEmbedder("sentence-transformers/all-MiniLM-L6-v2")
    assert (embedder.model_id, embedder.dim) == ("all-MiniLM-L6-v2", 384)


@pytest.mark.parametrize("path", ["/no/such/folder", "./model", "~/model", "a/b/c", "models\\mini"])
def test_a_folder_that_is_not_there_is_named_at_once(path: str) -> None:
    with pytest.raises(EmbedderUnavailableError, match=f"There is no folder .*{REMEDY}"):
        SentenceTransformerEmbedder(path)


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"hidden_size": 3}')
    embedder = SentenceTransformerEmbedder(tmp_path)
    with pytest.raises(EmbedderUnavailableError, match=f"holds no embedding model that can be loaded: .*{REMEDY}"):
        embedder.embed(["a"])
    with pytest.raises(EmbedderUnavailableError, match="holds no embedding model"):
        _ = embedder.dim


def test_without_the_network_a_model_that_is_not_here_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(EmbedderUnavailableError, match=r"has not been downloaded, .*HF_HUB_OFFLINE"):
        SentenceTransformerEmbedder("no-such-model-here").embed(["a"])


def test_a_hub_that_cannot_be_reached_is_asked_once(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    def refuse(self: Any, name: str, *, timeout: float) -> None:
        asked.append(name)
        raise ConnectionError("Name or service not known\nand more of it")

    asked: list[str] = []
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with (
        mock.patch.object(huggingface_hub.HfApi, "model_info", refuse),
        pytest.raises(
            EmbedderUnavailableError, match=r"hub cannot be reached \(Name or service not known\.\)"
        ) as caught,
    ):
        SentenceTransformerEmbedder("no-such-model-here").embed(["a"])
    assert asked == ["sentence-transformers/no-such-model-here"]
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert capfd.readouterr().err == ""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The packaged model's small files, with weights of a few bytes."""
    folder = packaged_folder()
    assert folder is not None
    target = tmp_path / "mini"
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("*.safetensors", "data_config.json"))
    (target / "model.safetensors").write_bytes(b"weights")
    return target


def test_e4_the_name_of_a_folder_changes_with_its_weights_and_not_with_its_readme(copy: Path) -> None:
    def name() -> str:
        return SentenceTransformerEmbedder(copy).model_id

    before = name()
    assert before == f"mini@{content_hash(copy)}"
    (copy / "README.md").write_text("another description")
    (copy / "onnx").mkdir()
    (copy / "onnx" / "config.json").write_text("{}")
    assert name() == before
    (copy / "model.safetensors").write_bytes(b"weighty")
    assert name() != before


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_the_dimension_is_read_where_the_files_are_plain_and_asked_for_otherwise(copy: Path) -> None:
    pooling = copy / "1_Pooling" / "config.json"
    assert dim_of(copy) == 384
    change(pooling, pooling_mode_cls_token=True)  # two poolings side by side: rows twice as long
    assert dim_of(copy) is None
    pooling.write_text('{"embedding_dimension": 12, "pooling_mode": "mean"}')
    assert dim_of(copy) == 12
    change(copy / "config_sentence_transformers.json", truncate_dim=6)
    assert dim_of(copy) is None
    (copy / "modules.json").unlink()
    assert (dim_of(copy), is_symmetric(copy)) == (None, None)


def test_prompts_of_the_model_are_used_and_make_it_asymmetric(copy: Path) -> None:
    settings = copy / "config_sentence_transformers.json"
    assert is_symmetric(copy)
    change(settings, prompts={"query": "find: ", "passage": "text: "})
    assert not is_symmetric(copy)
    change(settings, prompts={"cluster": "group: "}, default_prompt_name="cluster")
    assert is_symmetric(copy)


@pytest.mark.parametrize(
    ("prompts", "default", "query", "document"),
    [
        ({"query": "", "document": ""}, None, "", ""),
        ({"query": "q: ", "document": ""}, None, "q: ", ""),
        ({"query": "q: ", "document": "", "passage": "p: "}, None, "q: ", "p: "),
        ({"query": None, "document": None, "corpus": "c: "}, None, "", "c: "),
        ({"query": "", "document": "", "sts": "s: "}, "sts", "s: ", "s: "),
    ],
)
def test_the_prompt_for_each_kind(
    prompts: dict[str, str | None], default: str | None, query: str, document: str
) -> None:
    assert (prompt_for("query", prompts, default), prompt_for("document", prompts, default)) == (query, document)


def test_a_prompt_changes_the_row() -> None:
    embedder = default_embedder()
    plain = embedder.embed(["parcel"], "document")
    with mock.patch.dict(embedder._model().prompts, {"passage": "a text about fruit: "}):
        prompted = embedder.embed(["parcel"], "document")
    assert np.allclose(prompted, embedder.embed(["a text about fruit: parcel"]), atol=1e-5)
    assert not np.allclose(prompted, plain, atol=1e-2)
