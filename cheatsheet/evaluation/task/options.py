"""Options behind the name of a source: `hf:openai/gsm8k+config=main+split=test`."""

from __future__ import annotations

from cheatsheet.errors import TaskError


def parted(text: str) -> tuple[str, dict[str, str]]:
    """The name, and the options that follow it, each after a `+` as in `--modes`.

    Raises:
        TaskError: an option has no value, or comes twice.
    """
    name, *pairs = (part.strip() for part in text.split("+"))
    options: dict[str, str] = {}
    for pair in pairs:
        option, equals, value = (part.strip() for part in pair.partition("="))
        if not (option and equals and value):
            raise TaskError(f"{text!r}: after each + comes an option with its value, such as +split=test.")
        if option in options:
            raise TaskError(f"{text!r}: the option {option!r} is given twice.")
        options[option] = value
    return name, options
