"""What every embedder does with texts before its model sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from indexes.vectors import Matrix


def embed_contentful(texts: Sequence[str], encode: Callable[[list[str]], Matrix], dim: Callable[[], int]) -> Matrix:
    """Embed the texts that say something; the others get a zero row, which is like nothing at all.

    A model gives an empty text some vector too, and then finds it near to whatever is short;
    providers refuse an empty text altogether, and with it the batch.

    Args:
        texts: any number of texts.
        encode: turns n texts (n ≥ 1) that are not blank and can be written as UTF-8 into `[n, dim]`.
        dim: asked only where `encode` is not called.

    Raises:
        TypeError: one bare string was given, whose letters would be taken for texts.
    """
    if isinstance(texts, str):
        raise TypeError("embed() takes a sequence of texts; put a single text into a list.")
    kept = [place for place, text in enumerate(texts) if text.strip()]
    if not kept:
        return np.zeros((len(texts), dim()), dtype=np.float32)
    encoded = encode([_writable(texts[place]) for place in kept])
    if len(kept) == len(texts):
        return encoded
    rows = np.zeros((len(texts), encoded.shape[1]), dtype=np.float32)
    rows[kept] = encoded
    return rows


def _writable(text: str) -> str:
    """`text` without lone surrogates, which broken JSON escapes leave behind and no tokenizer takes."""
    return text.encode("utf-8", errors="replace").decode("utf-8")
