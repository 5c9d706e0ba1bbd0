"""The prompts of the roles: Markdown files with `[[NAME]]` placeholders, and what is put into them."""

from __future__ import annotations

import json
import re
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Literal, get_args

from cheatsheet.safety.block import data_block

__all__ = ["PromptName", "clip", "data_block", "fingerprint", "form_in", "render", "sheet_in"]

PromptName = Literal[
    "generator",
    "earlier",
    "code_marked",
    "code_all",
    "code_output",
    "code_last",
    "reflector",
    "curator",
    "rewrite",
    "synthesis",
    "merger",
]

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


def form_in(name: PromptName) -> Any:
    """The JSON object at the end of a prompt that shows the form of the reply."""
    template = _template(name)
    return json.loads(template[template.rindex("\n{\n") :])


def sheet_in(name: PromptName) -> str:
    """The cheatsheet at the end of a prompt that shows the form of the reply."""
    template = _template(name)
    return template[template.rindex("<cheatsheet>") :]


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
