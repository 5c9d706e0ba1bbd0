"""The prompts of the roles: Markdown files with `[[NAME]]` placeholders, and what is put into them."""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import count
from typing import Literal, get_args

PromptName = Literal["generator", "reflector", "curator"]

_PLACEHOLDER = re.compile(r"\[\[([A-Z_]+)\]\]")


def render(name: PromptName, **values: str) -> str:
    """The prompt of that name with each `[[NAME]]` replaced by the value of `name`.

    All are replaced in one pass and as they stand: braces, backslashes and placeholders inside a value are text.

    Raises:
        ValueError: a placeholder without a value, or a value without a placeholder.
    """
    template = _template(name)
    given = {key.upper(): value for key, value in values.items()}
    wanted = set(_PLACEHOLDER.findall(template))
    if wanted != given.keys():
        raise ValueError(
            f"The prompt {name!r} has the placeholders {sorted(wanted)}; values were given for {sorted(given)}."
        )
    return _PLACEHOLDER.sub(lambda placeholder: given[placeholder[1]], template)


def data_block(tag: str, text: str) -> str:
    """The text between `<tag>` and `</tag>`, unchanged: data that a prompt speaks about.

    Where the text holds that closing tag itself, the tag is numbered (`<tag-2>`): no text can end its own block.
    """
    names = (tag if number == 1 else f"{tag}-{number}" for number in count(1))
    closings = {re.sub(r"\s", "", closing).casefold() for closing in re.findall(r"<\s{0,9}/\s{0,9}[\w-]+", text)}
    free = next(name for name in names if f"</{name}" not in closings)
    return f"<{free}>\n{text}\n</{free}>"


def clip(text: str, max_chars: int) -> str:
    """The text, or its beginning and end with a mark between them that says how much is left out."""
    if len(text) <= max_chars:
        return text
    half = max_chars // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[len(text) - half :]}"


def fingerprint() -> str:
    """SHA-256 over all prompts: it changes with any of their words."""
    texts = "\0".join(_template(name) for name in get_args(PromptName))
    return sha256(texts.encode()).hexdigest()


@cache
def _template(name: PromptName) -> str:
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
