"""Counting with the tokenizer of a local model, read out of its GGUF file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cheatsheet.errors import MissingExtraError, SetupError
from cheatsheet.tokens.blocks import blocks, without_surrogates
from cheatsheet.tokens.gguf_file import Value, read_header

if TYPE_CHECKING:
    import tokenizers


def _modern_words(digits: str) -> str:
    return (
        r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|"
        + digits
        + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )


_GPT2_WORDS: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
# How a text is split into words before bytes are merged, by `tokenizer.ggml.pre`: the expressions of llama.cpp's
# src/llama-vocab.cpp. Each was held against llama.cpp's own count on the SmolLM2 vocabulary.
_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "smollm": (r"\p{N}", _GPT2_WORDS),
    "gpt-2": (_GPT2_WORDS,),
    "llama-bpe": (_modern_words(r"\p{N}{1,3}"),),
    "qwen2": (_modern_words(r"\p{N}"),),
}
_IGNORE_MERGES: Final = frozenset({"llama-bpe"})  # a word that is a token as it stands is not merged
_SPECIAL_TYPES: Final = frozenset({2, 3, 4})  # unknown, control and user-defined tokens


class GGUFCounter:
    """Counts as llama.cpp does for the model in a GGUF file.

    It knows byte-pair vocabularies (`tokenizer.ggml.model` "gpt2") that are split as SmolLM2, GPT-2, Llama 3 or
    Qwen 2 split theirs. A text that spells a special token such as `<|im_start|>` is counted as that one token,
    because llama.cpp's server reads it so. A token that the model wants before every prompt is not counted.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)

    def __repr__(self) -> str:
        return f"GGUFCounter({str(self._path)!r})"

    @property
    def name(self) -> str:
        """For example `gguf/SmolLM2-135M-Instruct.Q4_1`."""
        return f"gguf/{self._path.stem}"

    def count(self, text: str) -> int:
        """Tokens of the text; the first count of a file reads its tokenizer (about 0.3 s).

        Raises:
            SetupError: the file cannot be read, or its tokenizer is of another kind.
            MissingExtraError: package `tokenizers` is not installed.
        """
        return len(self.encode(text))

    def encode(self, text: str) -> list[int]:
        """The ids of the text's tokens in the model's vocabulary; errors as in `count`."""
        tokenizer = _load(self._path)
        parts = (tokenizer.encode(block, add_special_tokens=False) for block in blocks(without_surrogates(text)))
        return [number for part in parts for number in part.ids]


@lru_cache(maxsize=4)
def _load(path: Path) -> tokenizers.Tokenizer:
    try:
        import tokenizers
    except ImportError as error:
        raise MissingExtraError(
            "Counting with a model file's tokenizer needs package `tokenizers`: pip install tokenizers. "
            "Or use the counter 'cl100k_base'."
        ) from error
    metadata = read_header(path).metadata
    words = _words_of(metadata, path)
    vocabulary = _strings(metadata, "tokenizer.ggml.tokens", path)
    pairs = (merge.partition(" ") for merge in _strings(metadata, "tokenizer.ggml.merges", path))
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.BPE(
            vocab={token: number for number, token in enumerate(vocabulary)},
            merges=[(left, right) for left, _, right in pairs],
            ignore_merges=metadata["tokenizer.ggml.pre"] in _IGNORE_MERGES,
        )
    )
    tokenizer.pre_tokenizer = _splitter(words)
    tokenizer.add_special_tokens(_special_tokens(metadata, vocabulary))
    return tokenizer


def _words_of(metadata: Mapping[str, Value], path: Path) -> tuple[str, ...]:
    model, pre = metadata.get("tokenizer.ggml.model"), metadata.get("tokenizer.ggml.pre")
    if model == "gpt2" and isinstance(pre, str) and pre in _WORDS:
        return _WORDS[pre]
    known = ", ".join(_WORDS)
    raise SetupError(
        f"The tokenizer of {path.name!r} (model {model!r}, pre {pre!r}) is not one that can be counted with: model "
        f"'gpt2' with one of {known}. Use the counter 'cl100k_base' or 'chars' for an estimate."
    )


def _strings(metadata: Mapping[str, Value], key: str, path: Path) -> list[str]:
    value = metadata.get(key)
    if isinstance(value, list):
        return [str(item) for item in value]
    raise SetupError(f"{path.name!r} holds no {key!r}, so its tokens cannot be counted; use the counter 'cl100k_base'.")


def _splitter(words: tuple[str, ...]) -> tokenizers.pre_tokenizers.PreTokenizer:
    from tokenizers import Regex, pre_tokenizers

    splits = [pre_tokenizers.Split(Regex(expression), behavior="isolated") for expression in words]
    return pre_tokenizers.Sequence([*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def _special_tokens(metadata: Mapping[str, Value], vocabulary: list[str]) -> list[tokenizers.AddedToken]:
    from tokenizers import AddedToken

    types = metadata.get("tokenizer.ggml.token_type")
    if not isinstance(types, list):
        return []
    special = (token for token, kind in zip(vocabulary, types, strict=True) if kind in _SPECIAL_TYPES)
    return [AddedToken(token, normalized=False, special=True) for token in special]
