"""The Curator by a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cheatsheet.context.render import bullet_line
from cheatsheet.llm.model import Model, Reply, Request
from cheatsheet.memory.bullet import SECTION_SLUGS, Bullet
from cheatsheet.memory.view import MemoryView
from cheatsheet.roles.prompts import data_block, render
from cheatsheet.roles.proposals import Proposals
from cheatsheet.roles.role import Attempt, Curation, Curator, ErrorKind, Reflection
from cheatsheet.roles.rule_curator import RuleCurator, tag_operations
from cheatsheet.roles.structured_reply import read_structured


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

    def curate(self, reflection: Reflection, attempt: Attempt, memory: MemoryView) -> Curation:
        if not _teaches(reflection):
            return self._tags_only(reflection, memory)
        shown = self._shown(attempt, memory)
        reply = self.model.complete(self._request(reflection, attempt, shown))
        read = read_structured(reply, wants=("operations",), list_field="operations")
        entries = (read.fields or {}).get("operations")
        if not isinstance(entries, list):
            reason = () if read.fields is None else (f"The operations of {reply.model} are no list.",)
            return _with_note(self._fallback.curate(reflection, attempt, memory), reply, (*read.notes, *reason))
        tags, skipped = tag_operations(reflection, memory)
        proposals = Proposals(memory, shown=shown, tagged=reflection.tags)
        for entry in entries:
            proposals.read(entry)
        return Curation(
            # Tags first: a bullet that is merged takes its counters along.
            operations=(*tags, *proposals.operations),
            skipped=(*skipped, *proposals.skipped),
            by="model",
            usage=reply.usage,
            notes=read.notes,
        )

    def _shown(self, attempt: Attempt, memory: MemoryView) -> list[Bullet]:
        """The bullets as they are in the memory now, each once."""
        served = [bullet for shown in attempt.bullets if (bullet := memory.bullet(shown.id))]
        best = memory.bullets(order="utility", limit=self._max_bullets)
        active = {bullet.id: bullet for bullet in (*served, *best) if bullet.status == "active"}
        return list(active.values())[: self._max_bullets]

    def _request(self, reflection: Reflection, attempt: Attempt, shown: Sequence[Bullet]) -> Request:
        prompt = render(
            "curator",
            sheet=data_block("cheatsheet", "\n".join(map(_sheet_line, shown)) or "(empty)"),
            question=data_block("question", attempt.query.text),
            reflection=data_block("reflection", _reflection_text(reflection)),
            sections=", ".join(SECTION_SLUGS),
        )
        return Request(messages=({"role": "user", "content": prompt},), max_tokens=self._max_tokens)

    def _tags_only(self, reflection: Reflection, memory: MemoryView) -> Curation:
        tags, skipped = tag_operations(reflection, memory)
        return Curation(operations=tags, skipped=skipped, notes=("The reflection teaches nothing new.",))


def _with_note(curation: Curation, reply: Reply, notes: tuple[str, ...]) -> Curation:
    told = (*notes, "Rules curated in its place.", *curation.notes)
    return replace(curation, usage=reply.usage + curation.usage, notes=told)


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
