"""Counting with OpenAI's tokenizers, offline."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cheatsheet.errors import SetupError, UnknownNameError
from cheatsheet.tokens.blocks import blocks

if TYPE_CHECKING:
    import tiktoken

# tiktoken keeps a downloaded vocabulary under the SHA-1 of its address; LiteLLM carries these two under those names.
_CARRIED: Final = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
}
ENCODING_NAMES: Final = tuple(_CARRIED)
_environment_lock = threading.Lock()


class TiktokenCounter:
    """Counts with `cl100k_base` (GPT-4, GPT-3.5) or `o200k_base` (GPT-4o, GPT-4.1, GPT-5, o1, o3, o4).

    Exact for those models' plain texts, an estimate for other families. A text that spells a special token such as
    `<|endoftext|>` is counted as the plain text that it is.
    """

    def __init__(self, encoding: str = "cl100k_base") -> None:
        if encoding not in ENCODING_NAMES:
            raise UnknownNameError("encoding", encoding, ENCODING_NAMES)
        self._encoding_name = encoding
        self._encoding: tiktoken.Encoding | None = None

    def __repr__(self) -> str:
        return f"TiktokenCounter({self._encoding_name!r})"

    @property
    def name(self) -> str:
        """The name of the encoding."""
        return self._encoding_name

    def count(self, text: str) -> int:
        """Tokens of the text; the first count of a process loads the vocabulary (about 0.4 s).

        Raises:
            SetupError: the vocabulary is neither on disk nor to be had from the network.
        """
        if self._encoding is None:
            self._encoding = _load(self._encoding_name)
        # The same as `encode(disallowed_special=())`: no text is read as a special token, none is refused.
        return sum(len(self._encoding.encode_ordinary(block)) for block in blocks(text))


def _load(name: str) -> tiktoken.Encoding:
    """The encoding; tiktoken itself keeps one per process."""
    import tiktoken

    with _environment_lock, _vocabulary_folder(_carried_folder(name)):
        try:
            return tiktoken.get_encoding(name)
        except OSError as error:  # among them every error of `requests`, which tiktoken downloads with
            raise SetupError(
                f"The vocabulary {name!r} is not on this machine and cannot be downloaded ({error}). Install LiteLLM, "
                "which carries it, set TIKTOKEN_CACHE_DIR to a folder that has it, or use the counter 'chars'."
            ) from error


def _carried_folder(name: str) -> Path | None:
    """Where LiteLLM carries the vocabulary; found without importing LiteLLM, which takes seconds."""
    spec = importlib.util.find_spec("litellm")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place) / "litellm_core_utils" / "tokenizers"
        if (folder / _CARRIED[name]).is_file():
            return folder
    return None


@contextmanager
def _vocabulary_folder(folder: Path | None) -> Iterator[None]:
    """TIKTOKEN_CACHE_DIR set to the folder, and put back afterwards unless somebody else has set it meanwhile."""
    if folder is None:
        yield
        return
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        yield
    finally:
        if os.environ.get("TIKTOKEN_CACHE_DIR") == str(folder):
            if before is None:
                del os.environ["TIKTOKEN_CACHE_DIR"]
            else:
                os.environ["TIKTOKEN_CACHE_DIR"] = before
