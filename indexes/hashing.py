"""An embedder without a model: for tests, examples and the documentation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from indexes.embedder import TextKind
from indexes.errors import VectorError
from indexes.texts import embed_contentful
from indexes.vectors import Matrix, normalise

_WORD = re.compile(r"\w+")
_FIRST_IDEOGRAPH = "\u2e80"
"""Scripts from here on (Chinese, Japanese, Korean) write no spaces and say a word in one or two signs."""


class HashingEmbedder:
    """Words and pieces of words, hashed into `dim` signed slots. Promises: see `Embedder`.

    Texts that share words, or parts of words, are near; meaning is not known to it. The hash is
    BLAKE2b, so a text gets the same row in every process and on every machine. "The hashing trick":
    Weinberger et al., Feature Hashing for Large Scale Multitask Learning, arXiv 0902.2206.

    Args:
        dim: length of a row. Fewer than about 64 make unrelated texts collide.
    """

    symmetric = True

    def __init__(self, dim: int = 256) -> None:
        if dim < 1:
            raise VectorError(f"The dimension of an embedder must be at least 1, not {dim}.")
        self._dim = dim

    @property
    def model_id(self) -> str:
        return f"hashing-1-{self._dim}"

    @property
    def dim(self) -> int:
        return self._dim

    def embed(self, texts: Sequence[str], kind: TextKind = "document") -> Matrix:
        return embed_contentful(texts, self._encode, lambda: self._dim)

    def _encode(self, texts: list[str]) -> Matrix:
        features = [[_features(token) for token in _tokens(text)] for text in texts]
        sizes = [sum(len(each.hashes) for each in row) for row in features]
        together = list(chain.from_iterable(features))
        slots = np.concatenate([each.hashes for each in together]) % self._dim
        starts = np.repeat(np.arange(len(texts)) * self._dim, sizes)
        weights = np.concatenate([each.weights for each in together])
        # bincount adds in the order given, so that a row does not depend on the other texts (E2).
        flat = np.bincount(starts + slots, weights, minlength=len(texts) * self._dim)
        return normalise(flat.reshape(len(texts), self._dim))


class _Features(NamedTuple):
    """What a token adds to its text: int64 `[m]` hashes, and float64 `[m]` signed weights."""

    hashes: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]


def _tokens(text: str) -> list[str]:
    """The words of a text that is not blank; its signs, where there is no word."""
    folded = text.casefold()
    return _WORD.findall(folded) or folded.split()


@lru_cache(maxsize=65_536)
def _features(token: str) -> _Features:
    weight_of = _signs(token) if max(token) >= _FIRST_IDEOGRAPH else _letters(token)
    hashes = [_hash(feature) for feature in weight_of]
    signs = np.array([1.0 if number & 1 else -1.0 for number in hashes])
    return _Features(np.array([number >> 1 for number in hashes], dtype=np.int64), signs * list(weight_of.values()))


def _letters(token: str) -> dict[str, float]:
    """The word, and three letters at a time with its ends marked, which together weigh as much as the word."""
    marked = f"<{token}>"
    pieces = {f"#{marked[at : at + 3]}" for at in range(len(marked) - 2)}
    return {token: 1.0} | dict.fromkeys(sorted(pieces), len(pieces) ** -0.5)


def _signs(token: str) -> dict[str, float]:
    """Every sign and every pair of signs: what stands between two spaces may be a whole sentence here."""
    pieces = {token[at : at + size] for size in (1, 2) for at in range(len(token) - size + 1)}
    return dict.fromkeys(sorted(pieces), 1.0)


def _hash(feature: str) -> int:
    """63 bits and a sign bit at the end."""
    digest = blake2b(feature.encode("utf-8"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
