"""Embeddings from a provider, or from a server of one's own, through LiteLLM."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from indexes.embedder import TextKind
from indexes.errors import DimensionMismatchError, EmbedderUnavailableError
from indexes.texts import embed_contentful
from indexes.vectors import Matrix, normalise

_SECRET = re.compile(r"key|token|secret|password|credential|auth|header", re.IGNORECASE)
_TRANSPORT = {"timeout", "num_retries", "max_retries", "caching", "user", "metadata", "api_version", "drop_params"}

_REMEDIES = {
    "AuthenticationError": "Set the provider's API key in the environment, or check the one that is set.",
    "PermissionDeniedError": "The key that is set may not use this model.",
    "NotFoundError": "Check the name of the model and `api_base`.",
    "BadRequestError": "Check the name of the model (provider/name, for example 'openai/text-embedding-3-small').",
    "RateLimitError": "The provider asks to slow down: try again later, or give `num_retries`.",
    "Timeout": "Try again, or give a larger `timeout_s`.",
}
_OTHER_REMEDY = "Check the network, `api_base` and the provider's API key in the environment."


class LiteLLMEmbedder:
    """Any embedding model that LiteLLM knows. Promises: see `Embedder`.

    Args:
        model: in LiteLLM's spelling, `provider/name`.
        dim: length of a row. Where it is not given, it is learnt from the first answer, for which a
            probe is sent if need be.
        api_base: address of a server of one's own.
        timeout_s: for one request.
        batch_size: texts in one request; providers allow 96 to 2,048.
        query_options: options for queries only, where a model tells the two kinds apart,
            for example `{"input_type": "search_query"}`.
        options: further options of `litellm.embedding`, for example `dimensions=256`.

    Raises:
        EmbedderUnavailableError: from `embed`, when the provider cannot be reached, refuses, or gives an
            answer that is no answer. The message holds nothing of what the provider wrote, which may
            repeat the key; the cause does.
        DimensionMismatchError: from `embed`, when the rows are not of length `dim`.
    """

    def __init__(
        self,
        model: str,
        *,
        dim: int | None = None,
        api_base: str | None = None,
        timeout_s: float = 30,
        batch_size: int = 128,
        query_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self._model = model
        self._dim = dim
        self._api_base = api_base
        self._timeout_s = timeout_s
        self._batch_size = batch_size
        self._query_options = dict(query_options or {})
        self._options = options

    @property
    def model_id(self) -> str:
        """Model, server and a hash of the options; keys, time-outs and the like are no part of it."""
        server = f"@{_without_secrets(self._api_base)}" if self._api_base else ""
        options = _digest(self._options, self._query_options)
        return f"litellm/{self._model}{server}{options}"

    @property
    def dim(self) -> int:
        return self._dim or self._encode(["dimension"], "document").shape[1]

    @property
    def symmetric(self) -> bool:
        return not self._query_options

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        return embed_contentful(texts, lambda kept: self._encode(kept, kind), lambda: self.dim)

    def _encode(self, texts: list[str], kind: TextKind) -> Matrix:
        starts = range(0, len(texts), self._batch_size)
        return np.concatenate([self._request(texts[at : at + self._batch_size], kind) for at in starts])

    def _request(self, batch: list[str], kind: TextKind) -> Matrix:
        options = self._options | (self._query_options if kind == "query" else {})
        rows = normalise(self._in_order(self._call(batch, options), len(batch)))
        self._dim = self._dim or rows.shape[1]
        if rows.shape[1] != self._dim:
            raise DimensionMismatchError(
                expected=self._dim, got=rows.shape[1], what=f"vectors of the model {self._model!r}"
            )
        return rows

    def _call(self, batch: list[str], options: Mapping[str, Any]) -> list[Any]:
        litellm = _litellm()
        known = tuple(litellm.exceptions.LITELLM_EXCEPTION_TYPES)
        try:
            answer = litellm.embedding(
                model=self._model, input=batch, api_base=self._api_base, timeout=self._timeout_s, **options
            )
        except known as error:
            name = type(error).__name__
            raise EmbedderUnavailableError(
                f"The embedding model {self._model!r} gave no vectors ({name}). {_REMEDIES.get(name, _OTHER_REMEDY)}"
            ) from error
        return list(answer.data)

    def _in_order(self, items: list[Any], count: int) -> list[list[float]]:
        """The vectors by the `index` of their texts: servers that work in parallel answer in any order."""
        vectors = {item["index"]: item["embedding"] for item in items}
        if len(items) != count or vectors.keys() != set(range(count)):
            raise EmbedderUnavailableError(
                f"The embedding model {self._model!r} answered with {len(items)} vectors for {count} texts. "
                "Try a smaller `batch_size`, or another server."
            )
        return [vectors[place] for place in range(count)]


def _litellm() -> Any:
    # Without this, the import fetches a list of prices from the network.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True  # it prints advice to the terminal with every error otherwise
    return litellm


def _without_secrets(address: str) -> str:
    """Host, port and path of an address, without user, password and query."""
    parts = urlsplit(address)
    return f"{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def _digest(options: Mapping[str, Any], query_options: Mapping[str, Any]) -> str:
    """Eight hexadecimal digits of the options that may change a vector; nothing if there are none."""
    relevant = [
        {name: value for name, value in each.items() if name not in _TRANSPORT and not _SECRET.search(name)}
        for each in (options, query_options)
    ]
    if not any(relevant):
        return ""
    text = json.dumps(relevant, sort_keys=True, default=str)
    return f"#{blake2b(text.encode(), digest_size=4).hexdigest()}"
