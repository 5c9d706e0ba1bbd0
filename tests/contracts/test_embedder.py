"""The promises E1 to E5 of `Embedder`, kept by every implementation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexes.embedder import Embedder, TextKind
from tests.indexes.implementations import EMBEDDERS, FakeProvider, provider

KINDS: tuple[TextKind, ...] = ("query", "document")
TEXTS = [
    "My card was charged twice.",
    "Where is my parcel?",
    "",
    "如何重置密码",
    "a" * 3000,
    "   \n",
    "Where is my parcel?",
    "🙂",
    "half of a pair: \ud83d",
]
texts = st.lists(st.one_of(st.sampled_from(TEXTS), st.text(max_size=30)), max_size=5)


@pytest.fixture(params=EMBEDDERS)
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    with provider(FakeProvider()):
        yield EMBEDDERS[request.param]()


once_for_all_examples = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_it_is_an_embedder(embedder: Embedder) -> None:
    assert isinstance(embedder, Embedder)


@given(texts=texts, kind=st.sampled_from(KINDS))
@once_for_all_examples
def test_e1_rows_of_length_1_or_0(embedder: Embedder, texts: list[str], kind: TextKind) -> None:
    rows = embedder.embed(texts, kind)
    assert (rows.dtype, rows.shape) == (np.dtype(np.float32), (len(texts), embedder.dim))
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    for text, length in zip(texts, lengths.tolist(), strict=True):
        assert length == pytest.approx(1, abs=1e-5) if text.strip() else length == 0


@pytest.mark.parametrize("kind", KINDS)
def test_e2_a_row_does_not_depend_on_the_texts_beside_it(embedder: Embedder, kind: TextKind) -> None:
    together = embedder.embed(TEXTS, kind)
    alone = np.concatenate([embedder.embed([text], kind) for text in TEXTS])
    assert np.allclose(together, alone, atol=1e-5)
    assert np.allclose(embedder.embed(TEXTS[::-1], kind)[::-1], together, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_e3_no_texts_give_no_rows(embedder: Embedder, kind: TextKind) -> None:
    assert embedder.embed([], kind).shape == (0, embedder.dim)


def test_e4_the_same_embedder_made_again_has_the_same_name_and_rows(
    embedder: Embedder, request: pytest.FixtureRequest
) -> None:
    again: Embedder = EMBEDDERS[request.node.callspec.params["embedder"]]()
    assert again.model_id == embedder.model_id
    assert np.allclose(again.embed(TEXTS), embedder.embed(TEXTS), atol=1e-5)


def test_e4_no_two_embedders_share_a_name() -> None:
    """But for those whose rows are the same: a cache around another, and an export in full precision."""
    names = {name: make().model_id for name, make in EMBEDDERS.items()}
    assert names.pop("cached") == names["hashing"]
    assert names.pop("onnx") == names["sentence-transformers"]
    assert len(set(names.values())) == len(names)


def test_e5_a_symmetric_embedder_makes_no_difference_of_kind(embedder: Embedder) -> None:
    queries, documents = embedder.embed(TEXTS, "query"), embedder.embed(TEXTS, "document")
    assert np.allclose(queries, documents, atol=1e-5) == embedder.symmetric


def test_a_single_string_is_not_taken_for_its_letters(embedder: Embedder) -> None:
    with pytest.raises(TypeError, match="put a single text into a list"):
        embedder.embed("parcel")
