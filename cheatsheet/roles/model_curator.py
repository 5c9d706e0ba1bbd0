"""The Curator by a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cheatsheet.context.render import bullet_line
from cheatsheet.llm.model import Model, Request
from cheatsheet.memory.bullet import SECTION_SLUGS, Bullet
from cheatsheet.memory.view import MemoryView
from cheatsheet.roles.asking import Asked, ask_structured
from cheatsheet.roles.prompts import data_block, form_in, render
from cheatsheet.roles.proposals import Proposals
from cheatsheet.roles.replies import read_json
from cheatsheet.roles.role import Curation, Curator, ErrorKind, Reflected, Reflection
from cheatsheet.roles.rule_curator import RuleCurator, tag_operations
from cheatsheet.roles.structured_reply import Form

_TEXTS = ("id", "into", "section", "content", "reason")
# One closed object for all kinds, with blanks for what a kind does not need: OpenAI's strict mode takes no optional
# fields, and a grammar of one shape is smaller than one of a shape for each kind.
CURATION_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["reasoning", "operations"],
    "properties": {
        "reasoning": {"type": "string"},
        "operations": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["type", *_TEXTS, "absorbed"],
                "properties": {
                    "type": {"type": "string", "enum": ["ADD", "UPDATE", "MERGE", "REMOVE"]},
                    **{name: {"type": "string"} for name in _TEXTS},
                    "absorbed": {"type": "array", "items": {"type": "string"}},
                },
            },
        },
    },
}
CURATION_FORM = Form(
    wants=("operations",),
    list_field="operations",
    item_keys=("type",),
    example=form_in("curator"),
    schema=CURATION_SCHEMA,
)


class ModelCurator:
    """Asks a model for small changes of the cheatsheet, in ACE's form (arXiv 2510.04618, section 3; ace-agent/ace).

    - One bad proposal is skipped with a sentence that names it; the others stay.
    - Verdicts on bullets come from the reflection. A TAG that the model proposes counts only where there is none.
    - A reflection that teaches nothing costs no call; its tags are counted.
    - A reply that is empty, filtered or cannot be read leaves the work to `fallback`, with a note.

    Args:
        max_tokens: of each reply.
        max_bullets: how many bullets the model is shown at most: those that stood in the prompt of the attempt, then
            others by utility.

    Raises:
        ModelError: from `curate`, when the call itself failed.
    """

    def __init__(
        self, model: Model, *, fallback: Curator | None = None, max_tokens: int = 2048, max_bullets: int = 60
    ) -> None:
        self.model = model
        self._fallback = fallback or RuleCurator()
        self._max_tokens = max_tokens
        self._max_bullets = max_bullets

    def curate(self, reflected: Sequence[Reflected], memory: MemoryView) -> Curation:
        teaching = [each for each in reflected if _teaches(each.reflection)]
        if not teaching:
            return _tags_only(reflected, memory)
        shown = self._shown(reflected, memory)
        asked = ask_structured(self.model, self._request(teaching, shown), CURATION_FORM)
        entries = _entries(asked)
        if entries is None:
            return _with_note(self._fallback.curate(reflected, memory), asked)
        tags, skipped = tag_operations(reflected, memory)
        proposals = Proposals(
            memory,
            shown=shown,
            tagged={id for each in reflected for id in each.reflection.tags},
            served=(bullet for each in reflected for bullet in each.attempt.bullets),
            credited=(b.id for each in reflected if each.reflection.correct for b in each.attempt.bullets),
        )
        for entry in entries:
            proposals.read(entry)
        return Curation(
            # Tags first: a bullet that is merged takes its counters along.
            operations=(*tags, *proposals.operations),
            skipped=(*skipped, *proposals.skipped),
            by="model",
            usage=asked.usage,
            notes=asked.notes,
        )

    def _shown(self, reflected: Sequence[Reflected], memory: MemoryView) -> list[Bullet]:
        """The bullets as they are in the memory now, each once."""
        before = (shown for each in reflected for shown in each.attempt.bullets)
        served = [bullet for shown in before if (bullet := memory.bullet(shown.id))]
        best = memory.bullets(order="utility", limit=self._max_bullets)
        active = {bullet.id: bullet for bullet in (*served, *best) if bullet.status == "active"}
        return list(active.values())[: self._max_bullets]

    def _request(self, teaching: Sequence[Reflected], shown: Sequence[Bullet]) -> Request:
        judged = "An attempt was" if len(teaching) == 1 else f"{len(teaching)} attempts were"
        prompt = render(
            "curator",
            judged=judged,
            sheet=data_block("cheatsheet", "\n".join(map(_sheet_line, shown)) or "(empty)"),
            attempts=_attempts_text(teaching),
            sections=", ".join(SECTION_SLUGS),
        )
        return Request(messages=({"role": "user", "content": prompt},), max_tokens=self._max_tokens)


def _attempts_text(teaching: Sequence[Reflected]) -> str:
    """Question and reflection of each attempt; numbered where there are several."""
    parts: list[str] = []
    for number, each in enumerate(teaching, start=1):
        name = "the attempt" if len(teaching) == 1 else f"attempt {number}"
        parts += [
            f"The question of {name}:\n{data_block('question', each.attempt.query.text)}",
            f"What {name} taught:\n{data_block('reflection', _reflection_text(each.reflection))}",
        ]
    return "\n\n".join(parts)


def _tags_only(reflected: Sequence[Reflected], memory: MemoryView) -> Curation:
    tags, skipped = tag_operations(reflected, memory)
    notes = ("The reflection teaches nothing new.",) if len(reflected) == 1 else ("The reflections teach nothing new.",)
    return Curation(operations=tags, skipped=skipped, notes=notes)


def _entries(asked: Asked) -> list[Any] | None:
    """The operations as the model wrote them; None where there are none to read. One alone counts as a list of one."""
    value = (asked.fields or {}).get("operations")
    if isinstance(value, str):
        value = read_json(value, items=CURATION_FORM.item_keys).value  # JSON that was written as a text
    if isinstance(value, dict) and "type" in value:
        return [value]
    return value if isinstance(value, list) else None


def _with_note(curation: Curation, asked: Asked) -> Curation:
    reason = () if asked.fields is None else (f"The operations of {asked.model} are no list.",)
    told = (*asked.notes, *reason, "Rules curated in its place.", *curation.notes)
    return replace(curation, usage=asked.usage + curation.usage, notes=told)


def _teaches(reflection: Reflection) -> bool:
    return any((reflection.key_insight, reflection.correct_approach, reflection.root_cause, reflection.difference))


def _sheet_line(bullet: Bullet) -> str:
    label = f"[{bullet.id}]"
    counters = f"{bullet.section} helpful={bullet.helpful} harmful={bullet.harmful} ::"
    return bullet_line(bullet).replace(label, f"{label} {counters}", 1)


def _reflection_text(reflection: Reflection) -> str:
    verdict = {True: "The answer was right.", False: "The answer was wrong.", None: ""}[reflection.correct]
    fields = {
        "Kind of error": "" if reflection.error is ErrorKind.NONE else reflection.error.value,
        "Difference": reflection.difference,
        "Cause": reflection.root_cause,
        "Correct approach": reflection.correct_approach,
        "Key insight": reflection.key_insight,
        "Notes that helped or harmed": ", ".join(f"{id} {tag}" for id, tag in reflection.tags.items()),
    }
    return "\n".join([verdict, *(f"{name}: {text}" for name, text in fields.items() if text)]).strip()
