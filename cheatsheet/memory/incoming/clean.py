"""What is about to be stored, without secrets and without characters that nobody sees.

What was masked is counted and told, and cannot be had back: the journal keeps what is stored for ever.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cheatsheet.memory.experience import Experience
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Update
from cheatsheet.safety.cleaner import Cleaner


def cleaned_operations(
    operations: Iterable[Operation], *, secrets: bool = True, known: Iterable[str] = ()
) -> tuple[tuple[Operation, ...], tuple[str, ...]]:
    """The operations with clean words, sources, tags and metadata, and one sentence for each kind of thing that went.

    A state that a person restores stays as it was. Cleaning what is clean changes nothing.

    Args:
        secrets: whether they are masked; unseen characters are removed in any case.
        known: secrets that are masked wherever they stand, such as the key of the model.
    """
    cleaner = Cleaner(secrets=secrets, known=known)
    cleaned = tuple(_operation(operation, cleaner) for operation in operations)
    return cleaned, cleaner.notes


def cleaned_experience(
    experience: Experience, *, secrets: bool = True, known: Iterable[str] = ()
) -> tuple[Experience, tuple[str, ...]]:
    """The experience with clean texts, its trajectory and its metadata too, and what was done to them."""
    cleaner = Cleaner(secrets=secrets, known=known)
    feedback = experience.feedback
    expected = None if feedback.expected is None else cleaner.text(feedback.expected)
    known_of = {"expected": expected, "comment": cleaner.text(feedback.comment)}
    cleaned: dict[str, Any] = {
        "query": cleaner.text(experience.query),
        "answer": cleaner.text(experience.answer),
        "choices": tuple(map(cleaner.text, experience.choices)),
        "reasoning": cleaner.text(experience.reasoning),
        "trajectory": cleaner.value(experience.trajectory),
        "feedback": feedback.model_copy(update=known_of),
        "metadata": cleaner.value(experience.metadata),
    }
    return experience.model_copy(update=cleaned), cleaner.notes


def cleaned_texts(texts: Iterable[str], *, secrets: bool = True, known: Iterable[str] = ()) -> tuple[str, ...]:
    """Sentences that are stored beside a change, such as what a model was told off for, clean."""
    cleaner = Cleaner(secrets=secrets, known=known)
    return tuple(map(cleaner.text, texts))


def _operation(operation: Operation, cleaner: Cleaner) -> Operation:
    if isinstance(operation, Add):
        return operation.model_copy(update={"draft": _draft(operation.draft, cleaner)})
    if isinstance(operation, Merge):
        draft = None if operation.draft is None else _draft(operation.draft, cleaner)
        return operation.model_copy(update={"draft": draft, **_fields(operation, cleaner)})
    if isinstance(operation, Update | Remove):
        return operation.model_copy(update=_fields(operation, cleaner))
    return operation


def _draft(draft: Draft, cleaner: Cleaner) -> Draft:
    return draft.model_copy(update=_fields(draft, cleaner))


def _fields(value: Draft | Update | Merge | Remove, cleaner: Cleaner) -> dict[str, Any]:
    """Those fields of the value that hold words."""
    names = ("content", "section", "tags", "sources", "metadata", "reason")
    return {name: cleaner.value(getattr(value, name)) for name in names if getattr(value, name, None) is not None}
