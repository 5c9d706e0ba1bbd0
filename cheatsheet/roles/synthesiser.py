"""The role that writes a cheatsheet for one question, before it is answered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from cheatsheet.llm.model import Model, Request, Usage
from cheatsheet.memory.bullet import Bullet, section_title
from cheatsheet.memory.experience import Experience, Query
from cheatsheet.memory.formats.format import Playbook
from cheatsheet.memory.gate.rewrite import Rewritten, rewrite_operations
from cheatsheet.memory.gate.stand_ins import own_words
from cheatsheet.memory.operations import Operation
from cheatsheet.memory.view import MemoryView, Scored
from cheatsheet.roles.prompts import clip, data_block, render
from cheatsheet.roles.whole_sheet import as_text, ask_whole_sheet, fitting, words_in

_MAX_CHARS = 6_000  # of each earlier answer and of what stood beside it: about 1,500 tokens each
_LOOKS_LIKE_A_MARK = re.compile(r"^(?=#{1,6}[ \t]*(?:PREVIOUS|Previous|Model Solution)\b)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """A cheatsheet for one question.

    Attributes:
        text: for the prompt; bullets of the memory stand there with their ids. Empty when nothing was written.
        ids: of those bullets.
        operations: what it changes in the memory; nothing is removed.
    """

    text: str = ""
    ids: tuple[str, ...] = ()
    operations: tuple[Operation, ...] = ()
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()


class Synthesiser:
    """Asks a model for the notes that help with a question (DC-RS in Dynamic Cheatsheet, arXiv 2504.07952).

    The model sees similar earlier questions with their answers, and the cheatsheet. A bullet that it does not take over
    does not help with this question; it is not one to be forgotten, so that nothing is removed. A reply without a
    readable cheatsheet makes an empty synthesis, and a note says so.

    Args:
        max_tokens: of each reply.
        max_bullets: how many bullets the model is shown at most: those that were found, then others by utility.

    Raises:
        ModelError: from `synthesise`, when the call itself failed.
    """

    def __init__(self, model: Model, *, max_tokens: int = 4096, max_bullets: int = 60) -> None:
        self.model = model
        self._max_tokens = max_tokens
        self._max_bullets = max_bullets

    def synthesise(
        self,
        query: Query,
        experiences: Sequence[Scored[Experience]],
        bullets: Sequence[Scored[Bullet]],
        memory: MemoryView,
    ) -> Synthesis:
        """Write the notes for a question.

        Args:
            experiences: the most similar ones, in any order.
            bullets: the most similar ones, in any order.
        """
        shown = self._shown(bullets, memory)
        if not shown and not experiences:
            return Synthesis(notes=("The memory is empty: there is nothing to write notes from.",))
        sheet = ask_whole_sheet(self.model, self._request(query, experiences, shown), "synthesis")
        if sheet.playbook is None:
            return Synthesis(usage=sheet.usage, notes=(*sheet.notes, "No notes were written for the question."))
        rewritten = rewrite_operations(sheet.playbook, memory, shown=shown, complete=False)
        return Synthesis(
            text=_text(sheet.playbook, rewritten),
            ids=tuple(id for id in rewritten.ids if id),
            operations=rewritten.operations,
            usage=sheet.usage,
            notes=(*sheet.notes, *rewritten.notes),
        )

    def _shown(self, bullets: Sequence[Scored[Bullet]], memory: MemoryView) -> list[Bullet]:
        found = [hit.value for hit in sorted(bullets, key=lambda hit: -hit.score)]
        best = memory.bullets(order="utility", limit=self._max_bullets)
        return fitting([*found, *best][: self._max_bullets], self._max_tokens)

    def _request(self, query: Query, experiences: Sequence[Scored[Experience]], shown: Sequence[Bullet]) -> Request:
        prompt = render(
            "synthesis",
            sheet=data_block("sheet", as_text(shown)),
            pairs=data_block("pairs", pairs_text(experiences) or "(none)"),
            question=data_block("question", query.text),
            words=words_in(self._max_tokens),
        )
        return Request(messages=({"role": "user", "content": prompt},), max_tokens=self._max_tokens)


def pairs_text(experiences: Sequence[Scored[Experience]]) -> str:
    """Earlier questions with their answers in Dynamic Cheatsheet's form, the most similar last; empty without any."""
    if not experiences:
        return ""
    parts = ["### PREVIOUS SOLUTIONS (START)"]
    for number, hit in enumerate(sorted(experiences, key=lambda hit: hit.score), start=1):
        parts += [
            f"#### Previous Input #{number} (Similarity: {hit.score:.2f}):",
            _quoted(hit.value.query),
            f"#### Model Solution to Previous Input #{number}:",
            _quoted(_solution(hit.value)),
        ]
    return "\n\n".join([*parts, "#### PREVIOUS SOLUTIONS (END)"])


def _solution(experience: Experience) -> str:
    feedback = experience.feedback
    parts = (
        clip(experience.reasoning.strip(), _MAX_CHARS),
        f"Answer: {clip(experience.answer, _MAX_CHARS)}" if experience.answer else "(no answer)",
        {True: "The answer was right.", False: "The answer was wrong.", None: ""}[feedback.verdict],
        "" if feedback.expected is None else f"The right answer: {feedback.expected}",
        feedback.comment,
    )
    return "\n\n".join(part for part in parts if part)


def _quoted(text: str) -> str:
    """The text, with a backslash before lines that look like the marks of this block."""
    return _LOOKS_LIKE_A_MARK.sub(r"\\", text)


def _text(playbook: Playbook, rewritten: Rewritten) -> str:
    """The notes as a prompt shows them: under headings, bullets with their ids, further lines indented."""
    parts: list[str] = []
    section = ""
    for entry, id, content in zip(playbook.entries, rewritten.ids, rewritten.contents, strict=True):
        rest = own_words(content)
        if rest == "":
            continue
        if entry.draft.section != section:
            section = entry.draft.section
            parts.append(f"{section_title(section)}:")
        parts.append((f"[{id}] " if id else "- ") + "\n    ".join((rest or content).strip().splitlines()))
    return "\n\n".join(parts)
