"""`LiteLLMEmbedder` against answers of a provider, good and bad."""

from __future__ import annotations

import traceback
from types import SimpleNamespace
from typing import Any

import litellm
import numpy as np
import pytest

from indexes.errors import DimensionMismatchError, EmbedderUnavailableError, NonFiniteVectorError
from indexes.litellm_embedder import LiteLLMEmbedder
from indexes.vectors import normalise
from tests.indexes.implementations import FakeProvider, provider

KEY = "sk-abcdefghijklmnopqrstuvwxyz123456"


def test_texts_go_out_in_batches_and_rows_come_back_in_order() -> None:
    """The fake provider answers last text first."""
    with provider(FakeProvider()) as fake:
        rows = LiteLLMEmbedder("fake/model", batch_size=2).embed(["a", "", "b", "c"])
    assert [request["input"] for request in fake.requests] == [["a", "b"], ["c"]]
    expected = normalise([fake.vector("a"), [0] * 8, fake.vector("b"), fake.vector("c")])
    assert np.array_equal(rows, expected)


def test_the_request_carries_what_was_set() -> None:
    with provider(FakeProvider()) as fake:
        embedder = LiteLLMEmbedder(
            "fake/model", api_base="http://gpu:8000/v1", timeout_s=7, query_options={"input_type": "q"}, dimensions=8
        )
        embedder.embed(["a"], "query")
        embedder.embed(["a"], "document")
    shared = {"model": "fake/model", "input": ["a"], "api_base": "http://gpu:8000/v1", "timeout": 7, "dimensions": 8}
    assert fake.requests == [shared | {"input_type": "q"}, shared]


def test_options_for_queries_make_it_asymmetric() -> None:
    with provider(FakeProvider()):
        embedder = LiteLLMEmbedder("fake/model", query_options={"input_type": "q"})
        assert not embedder.symmetric
        assert not np.allclose(embedder.embed(["a"], "query"), embedder.embed(["a"], "document"))


def test_the_dimension_is_learnt_from_an_answer_and_asked_for_once() -> None:
    with provider(FakeProvider(dim=5)) as fake:
        embedder = LiteLLMEmbedder("fake/model")
        assert embedder.embed([]).shape == (0, 5)
        assert embedder.dim == 5
        assert len(fake.requests) == 1


def test_another_dimension_than_the_one_set_is_refused() -> None:
    with (
        provider(FakeProvider(dim=5)),
        pytest.raises(DimensionMismatchError, match="'fake/model' came with dimension 5"),
    ):
        LiteLLMEmbedder("fake/model", dim=8).embed(["a"])


def item(index: int, *vector: float) -> dict[str, Any]:
    return {"index": index, "embedding": list(vector)}


@pytest.mark.parametrize(
    "items", [[], [item(0, 1, 0)], [item(0, 1, 0), item(0, 1, 0)], [item(0, 1, 0), item(2, 1, 0)], [item(0, 1)] * 3]
)
def test_an_answer_for_other_texts_than_were_sent_is_refused(items: list[dict[str, Any]]) -> None:
    with (
        provider(lambda **_: SimpleNamespace(data=items)),
        pytest.raises(EmbedderUnavailableError, match=f"{len(items)} vectors for 2 texts"),
    ):
        LiteLLMEmbedder("fake/model").embed(["a", "b"])


def test_a_vector_with_nan_is_refused() -> None:
    answer = SimpleNamespace(data=[item(0, float("nan"), 1)])
    with provider(lambda **_: answer), pytest.raises(NonFiniteVectorError):
        LiteLLMEmbedder("fake/model").embed(["a"])


def failure(kind: str) -> Exception:
    """An error of LiteLLM whose text repeats the key, as providers' texts do."""
    make: Any = getattr(litellm.exceptions, kind)
    return make(message=f"Incorrect API key provided: {KEY}", llm_provider="fake", model="fake/model")  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("AuthenticationError", "Set the provider's API key"),
        ("BadRequestError", "Check the name of the model"),
        ("RateLimitError", "asks to slow down"),
        ("Timeout", "timeout_s"),
        ("InternalServerError", "Check the network"),
        ("ServiceUnavailableError", "Check the network"),
    ],
)
def test_an_error_of_the_provider_becomes_one_sentence_without_the_key(kind: str, advice: str) -> None:
    error = failure(kind)

    def fail(**_: Any) -> None:
        raise error

    with provider(fail), pytest.raises(EmbedderUnavailableError, match=advice) as caught:
        LiteLLMEmbedder("fake/model", api_key=KEY).embed(["a"])
    assert kind in str(caught.value)
    assert "sk-" not in "".join(traceback.format_exception_only(caught.value))
    assert caught.value.__cause__ is error


def test_an_error_that_is_no_providers_rises_as_it_is() -> None:
    def broken(**_: Any) -> None:
        raise ZeroDivisionError

    with provider(broken), pytest.raises(ZeroDivisionError):
        LiteLLMEmbedder("fake/model").embed(["a"])


def test_e4_the_name_changes_with_what_changes_the_vectors() -> None:
    names = [
        LiteLLMEmbedder("fake/model").model_id,
        LiteLLMEmbedder("fake/other").model_id,
        LiteLLMEmbedder("fake/model", dimensions=256).model_id,
        LiteLLMEmbedder("fake/model", query_options={"input_type": "q"}).model_id,
        LiteLLMEmbedder("fake/model", input_type="q").model_id,
        LiteLLMEmbedder("fake/model", api_base="http://gpu:8000/v1").model_id,
    ]
    assert names[0] == "litellm/fake/model"
    assert len(set(names)) == len(names)


def test_e4_the_name_does_not_change_with_keys_and_time_outs_and_holds_no_secret() -> None:
    plain = LiteLLMEmbedder("fake/model", api_base="https://gpu.example/v1")
    same = LiteLLMEmbedder(
        "fake/model",
        api_base=f"https://user:{KEY}@gpu.example/v1/?key={KEY}",
        timeout_s=1,
        batch_size=1,
        api_key=KEY,
        num_retries=3,
        extra_headers={"Authorization": KEY},
        aws_secret_access_key=KEY,
    )
    assert same.model_id == plain.model_id == "litellm/fake/model@gpu.example/v1"
