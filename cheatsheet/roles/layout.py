"""How a question, its notes and its examples are laid out for a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from cheatsheet.context.section import ChatTurn
from cheatsheet.llm.model import Message
from cheatsheet.roles.prompts import clip, data_block, render
from cheatsheet.roles.role import EarlierAnswer
from cheatsheet.safety.block import notes_block

Style = Literal["chat", "text", "continuation"]
Labels = tuple[str, str]

# UTF-8 bytes that an earlier answer and its remark take in a prompt at most. Bytes, because in texts that take more of
# them a character also takes more tokens.
_ANSWER_BYTES: Final = 1_500
_REMARK_BYTES: Final = 1_000
_LINE_BYTES: Final = 200  # of each, where they stand on one line
_NO_NOTES: Final = "(none yet)"
_MARK_CHARS: Final = 80  # room for the mark where something is left out
# About as many tokens as the longest earlier answer takes, and more than it takes in English.
LONGEST_EARLIER: Final = EarlierAnswer(answer="a " * (_ANSWER_BYTES // 2), remark="a " * (_REMARK_BYTES // 2))


def head(*, instructions: str, choices: Sequence[str], scaffold: bool, code: str = "") -> str:
    """What a model is told, the same for question after question, so that providers' prompt caches keep it.

    Args:
        instructions: of the user, as they stand.
        choices: the allowed answers, if they have to be told.
        scaffold: whether it is told how to use and to cite the notes.
        code: what it is told about programs; empty leaves it out.
    """
    parts = [instructions.strip(), _choices_text(choices, alone=not scaffold), code]
    return _joined([*parts, render("generator") if scaffold else ""])


def notes_text(notes: str | None, *, always: bool) -> str:
    """The block that notes stand in, which says that they are no instructions.

    Args:
        notes: compiled text of the memory; None without one.
        always: show the block also when there are none yet, as where the scaffold speaks of notes.
    """
    if notes is None and not always:
        return ""
    return notes_block(notes or _NO_NOTES)


def chat_messages(
    head: str, notes: str, examples: Sequence[ChatTurn], question: str, earlier: Sequence[EarlierAnswer] = ()
) -> tuple[Message, ...]:
    """Examples as turns of the conversation; notes, question and its earlier answers as its last message.

    The notes are data, and belong where data belong: into the user part, at the question that they were found for.
    """
    messages: list[Message] = _system(head)
    for example in examples:
        messages.append({"role": "user", "content": example.user})
        messages.append({"role": "assistant", "content": example.assistant})
    asked = _joined([notes, question]) + _earlier_text(earlier)
    return (*messages, {"role": "user", "content": asked})


def text_messages(
    head: str,
    notes: str,
    examples: Sequence[ChatTurn],
    question: str,
    labels: Labels,
    earlier: Sequence[EarlierAnswer] = (),
) -> tuple[Message, ...]:
    """Notes and examples as text in front of the question, its earlier answers behind it, in one message."""
    shown = question
    if examples:
        pairs = "\n\n".join(_pair(example, labels) for example in examples)
        shown = f"Earlier questions and their answers:\n{data_block('examples', pairs)}\n\n{labels[0]}: {question}"
    return (*_system(head), {"role": "user", "content": _joined([notes, shown]) + _earlier_text(earlier)})


def continuation_text(
    head: str,
    notes: str,
    examples: Sequence[ChatTurn],
    question: str,
    labels: Labels,
    earlier: Sequence[EarlierAnswer] = (),
) -> str:
    """One text that ends where the answer is to begin; each earlier answer is a line before that.

    It has no parts that a model is told and parts that a user says; the notes stand in front of the examples, so that
    these are followed by the question alone.
    """
    pairs = [_pair(example, labels) for example in examples]
    lines = [f"{labels[0]}: {question}", *(_earlier_line(answer, labels) for answer in earlier), f"{labels[1]}:"]
    return _joined([head, notes, *pairs, "\n".join(lines)])


def continuation_stop(examples: Sequence[ChatTurn], choices: Sequence[str], labels: Labels) -> tuple[str, ...]:
    """Where a continuation ends: with its line, unless the examples show that answers have several."""
    one_line = bool(choices) or not any("\n" in example.assistant for example in examples)
    return ("\n",) if one_line else (f"\n{labels[0]}:",)


def _system(head: str) -> list[Message]:
    return [{"role": "system", "content": head}] if head else []


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _pair(example: ChatTurn, labels: Labels) -> str:
    """An example as text; lines in it that begin like another question or answer are set in, and pose as none."""
    looks_like_a_label = re.compile(rf"^(?=[ \t]*(?:{'|'.join(map(re.escape, labels))}):)", re.MULTILINE)
    user, assistant = (looks_like_a_label.sub("    ", text) for text in (example.user, example.assistant))
    return f"{labels[0]}: {user}\n{labels[1]}: {assistant}"


def _earlier_text(earlier: Sequence[EarlierAnswer]) -> str:
    if not earlier:
        return ""
    blocks: list[str] = []
    for number, given in enumerate(earlier, start=1):
        blocks.append(f"Answer {number}:\n{data_block('earlier', _bounded(given.answer, _ANSWER_BYTES))}")
        if given.remark.strip():
            blocks.append(f"Remark on it:\n{data_block('remark', _bounded(given.remark, _REMARK_BYTES))}")
    return "\n\n" + render("earlier", earlier="\n\n".join(blocks))


def _earlier_line(given: EarlierAnswer, labels: Labels) -> str:
    answer, remark = (" ".join(_bounded(text, _LINE_BYTES).split()) for text in (given.answer, given.remark))
    return f"Earlier {labels[1].lower()}: {answer}" + (f" ({remark})" if remark else "")


def _bounded(text: str, max_bytes: int) -> str:
    """The text, or its beginning and end where it is longer."""
    size = len(text.encode("utf-8", "replace"))
    return text if size <= max_bytes else clip(text, (max_bytes - _MARK_CHARS) * len(text) // size)


def _choices_text(choices: Sequence[str], *, alone: bool) -> str:
    if not choices:
        return ""
    end = "\nReply with it alone." if alone else ""
    return "The answer is one of these, written exactly so:\n" + "\n".join(f"- {choice}" for choice in choices) + end
