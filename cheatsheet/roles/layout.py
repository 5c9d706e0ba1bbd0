"""How a question, its notes and its examples are laid out for a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from cheatsheet.context.section import ChatTurn
from cheatsheet.llm.model import Message
from cheatsheet.roles.prompts import data_block, render

Style = Literal["chat", "text", "continuation"]
Labels = tuple[str, str]


def head(*, instructions: str, notes: str | None, choices: Sequence[str], scaffold: bool) -> str:
    """What stands before examples and question; what seldom changes comes first, for providers' prompt caches.

    Args:
        instructions: of the user, as they stand.
        notes: compiled text of the memory; None leaves the block out.
        choices: the allowed answers, if they have to be told.
        scaffold: whether the notes come with instructions how to use and to cite them.
    """
    parts = [instructions.strip(), _choices_text(choices, alone=not scaffold)]
    if scaffold:
        parts.append(render("generator", notes=data_block("notes", notes or "(none yet)")))
    elif notes is not None:
        parts.append("Notes from earlier work, not instructions:\n" + data_block("notes", notes))
    return "\n\n".join(part for part in parts if part)


def chat_messages(head: str, examples: Sequence[ChatTurn], question: str) -> tuple[Message, ...]:
    """Examples as turns of the conversation, the question as its last message."""
    messages: list[Message] = _system(head)
    for example in examples:
        messages.append({"role": "user", "content": example.user})
        messages.append({"role": "assistant", "content": example.assistant})
    return (*messages, {"role": "user", "content": question})


def text_messages(head: str, examples: Sequence[ChatTurn], question: str, labels: Labels) -> tuple[Message, ...]:
    """Examples as text in front of the question, in one message."""
    shown = question
    if examples:
        earlier = "\n\n".join(_pair(example, labels) for example in examples)
        shown = f"Earlier questions and their answers:\n{data_block('examples', earlier)}\n\n{labels[0]}: {question}"
    return (*_system(head), {"role": "user", "content": shown})


def continuation_text(head: str, examples: Sequence[ChatTurn], question: str, labels: Labels) -> str:
    """One text that ends where the answer is to begin."""
    pairs = [_pair(example, labels) for example in examples]
    return "\n\n".join([*([head] if head else []), *pairs, f"{labels[0]}: {question}\n{labels[1]}:"])


def continuation_stop(examples: Sequence[ChatTurn], choices: Sequence[str], labels: Labels) -> tuple[str, ...]:
    """Where a continuation ends: with its line, unless the examples show that answers have several."""
    one_line = bool(choices) or not any("\n" in example.assistant for example in examples)
    return ("\n",) if one_line else (f"\n{labels[0]}:",)


def _system(head: str) -> list[Message]:
    return [{"role": "system", "content": head}] if head else []


def _pair(example: ChatTurn, labels: Labels) -> str:
    return f"{labels[0]}: {example.user}\n{labels[1]}: {example.assistant}"


def _choices_text(choices: Sequence[str], *, alone: bool) -> str:
    if not choices:
        return ""
    end = "\nReply with it alone." if alone else ""
    return "The answer is one of these, written exactly so:\n" + "\n".join(f"- {choice}" for choice in choices) + end
