"""The Reflector by a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from cheatsheet.context.render import bullet_line
from cheatsheet.llm.model import Model, Request
from cheatsheet.roles.asking import Asked, ask_structured
from cheatsheet.roles.difference import describe, judged
from cheatsheet.roles.prompts import clip, data_block, form_in, render
from cheatsheet.roles.replies import IdMatcher
from cheatsheet.roles.role import Attempt, Reflection, Reflector, TagName
from cheatsheet.roles.rule_reflector import RuleReflector, error_of
from cheatsheet.roles.structured_reply import Form
from cheatsheet.roles.trajectory import Trajectory, trajectory_of

_TEXTS = ("error_identification", "root_cause_analysis", "correct_approach", "key_insight")
_FIELDS = (*_TEXTS, "bullet_tags")
_TAGS: dict[str, TagName] = {"helpful": "helpful", "harmful": "harmful", "neutral": "neutral"}
_MAX_CHARS = 8_000  # of an answer and of its reasoning in the prompt: about 2,000 tokens each

REFLECTION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["reasoning", *_FIELDS],
    "properties": {
        "reasoning": {"type": "string"},
        **{name: {"type": "string"} for name in _TEXTS},
        "bullet_tags": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["id", "tag"],
                "properties": {"id": {"type": "string"}, "tag": {"type": "string", "enum": list(_TAGS)}},
            },
        },
    },
}
REFLECTION_FORM = Form(
    wants=_FIELDS,
    list_field="bullet_tags",
    item_keys=("id", "tag"),
    example=form_in("reflector"),
    schema=REFLECTION_SCHEMA,
)


@dataclass(frozen=True, slots=True)
class _Tags:
    """Verdicts that can be counted, and one sentence for each thing that cannot."""

    by_id: dict[str, TagName]
    notes: tuple[str, ...]


class ModelReflector:
    """Asks a model what an attempt teaches, in ACE's form (arXiv 2510.04618, section 3; ace-agent/ace).

    Whether the answer was right, and what kind of error it was, is told by the feedback and by rules, not by the model.
    A reply that is empty, filtered or cannot be read leaves the reflection to `fallback`, with a note.

    Raises:
        ModelError: from `reflect`, when the call itself failed.
    """

    def __init__(self, model: Model, *, fallback: Reflector | None = None, max_tokens: int = 1024) -> None:
        self.model = model
        self._fallback = fallback or RuleReflector()
        self._max_tokens = max_tokens

    def reflect(self, attempt: Attempt) -> Reflection:
        trajectory, unread = trajectory_of(attempt)
        asked = ask_structured(self.model, self._request(attempt, trajectory), REFLECTION_FORM)
        if asked.fields is None:
            return _with_note(self._fallback.reflect(attempt), asked)
        tags = _evidence(_read_tags(asked.fields.get("bullet_tags"), attempt), attempt)
        difference, root_cause, approach, insight = (_text(asked.fields.get(name)) for name in _TEXTS)
        expected = attempt.feedback.expected
        return Reflection(
            correct=judged(attempt),
            difference=difference or ("" if expected is None else describe(attempt.answer, expected)),
            error=error_of(attempt),
            root_cause=root_cause,
            correct_approach=approach,
            key_insight=insight,
            tags=tags.by_id,
            by="model",
            usage=asked.usage,
            notes=(*asked.notes, *tags.notes, *unread),
        )

    def _request(self, attempt: Attempt, trajectory: Trajectory | None) -> Request:
        prompt = render(
            "reflector",
            question=data_block("question", attempt.query.text),
            beside=_beside(attempt, trajectory),
            answer=_answers(attempt),
            feedback=data_block("feedback", _feedback_text(attempt)),
            notes=data_block("notes", "\n".join(map(bullet_line, attempt.bullets)) or "(none)"),
        )
        return Request(messages=({"role": "user", "content": prompt},), max_tokens=self._max_tokens)


def _beside(attempt: Attempt, trajectory: Trajectory | None) -> str:
    """What led to the answer: the steps where they are known, else what was written beside it."""
    if trajectory is not None and trajectory.text:
        steps = data_block("steps", clip(trajectory.text, _MAX_CHARS))
        return f"What the answerer did before the answer, step by step:\n{steps}"
    reasoning = data_block("reasoning", clip(attempt.reasoning, _MAX_CHARS) or "(none)")
    return f"What the answerer wrote beside the answer:\n{reasoning}"


def _answers(attempt: Attempt) -> str:
    """The answer, and those before it to the same question."""
    answer = data_block("answer", clip(attempt.answer, _MAX_CHARS) or "(empty)")
    if not attempt.earlier:
        return answer
    earlier = "\n".join(f"{number}. {each.answer or '(empty)'}" for number, each in enumerate(attempt.earlier, start=1))
    block = data_block("earlier", clip(earlier, _MAX_CHARS))
    return f"{answer}\n\nEarlier answers to the same question, which were wrong:\n{block}"


def _with_note(reflection: Reflection, asked: Asked) -> Reflection:
    told = (*asked.notes, "Rules reflected in its place.", *reflection.notes)
    return replace(reflection, usage=asked.usage + reflection.usage, notes=told)


def _read_tags(value: Any, attempt: Attempt) -> _Tags:
    """Verdicts by known id. Ids are matched whatever their brackets, case and zeros; contradictions cancel out."""
    matcher = IdMatcher(bullet.id for bullet in attempt.bullets)
    verdicts: dict[str, set[TagName]] = {}
    unknown: list[str] = []
    unread = 0
    for written, verdict in _tag_entries(value):
        id, tag = matcher.match(written), _TAGS.get(verdict.strip().casefold())
        if tag is None:
            unread += 1
        elif id is None:
            unknown.append(written)
        else:
            verdicts.setdefault(id, set()).add(tag)
    notes = [f"{len(unknown)} tags name bullets that were not shown: {', '.join(unknown)}."] if unknown else []
    notes += [f"{unread} tags are none of helpful, harmful, neutral."] if unread else []
    notes += [
        f"The tags of {id} contradict each other; it is left as it is." for id, t in verdicts.items() if len(t) > 1
    ]
    return _Tags({id: next(iter(tags)) for id, tags in verdicts.items() if len(tags) == 1}, tuple(notes))


def _evidence(tags: _Tags, attempt: Attempt) -> _Tags:
    """The verdicts, where anything is known of the answer: a model that only agrees with itself is no evidence."""
    if attempt.feedback.given or not tags.by_id:
        return tags
    return _Tags({}, (*tags.notes, f"{len(tags.by_id)} tags do not count: nothing is known about the answer."))


def _tag_entries(value: Any) -> Iterator[tuple[str, str]]:
    """Pairs of id and tag, from a list of objects (ACE's form) or from an object of ids."""
    if isinstance(value, dict):
        yield from ((str(id), str(tag)) for id, tag in value.items())
    elif isinstance(value, list):
        for entry in value:
            if isinstance(entry, dict):
                yield str(entry.get("id", "")), str(entry.get("tag", ""))
            else:
                yield str(entry), ""


def _text(value: Any) -> str:
    """A field's text; lists of sentences are joined, anything else is no text."""
    if isinstance(value, list):
        return " ".join(item.strip() for item in value if isinstance(item, str))
    return value.strip() if isinstance(value, str) else ""


def _feedback_text(attempt: Attempt) -> str:
    feedback, correct = attempt.feedback, judged(attempt)
    verdict = {True: "The answer is right.", False: "The answer is wrong.", None: ""}[correct]
    lines = [
        verdict,
        "" if feedback.score is None else f"Score from 0 to 1: {feedback.score:g}",
        "" if feedback.expected is None else f"Expected answer: {feedback.expected}",
        f"Comment: {feedback.comment}" if feedback.comment else "",
    ]
    return "\n".join(line for line in lines if line) or "(nothing)"
