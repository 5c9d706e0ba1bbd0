"""The Curator that writes the whole cheatsheet anew."""

from __future__ import annotations

from collections.abc import Sequence

from cheatsheet.llm.model import Model, Request
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.gate.rewrite import rewrite_operations
from cheatsheet.memory.view import MemoryView
from cheatsheet.roles.prompts import clip, data_block, render
from cheatsheet.roles.role import Curation, Reflected
from cheatsheet.roles.rule_curator import tag_operations
from cheatsheet.roles.whole_sheet import as_text, ask_whole_sheet, fitting, words_in

_MAX_CHARS = 8_000  # of an answer and of what stands beside it: about 2,000 tokens each


class RewritingCurator:
    """Asks a model for a whole new cheatsheet after each turn (DC-Cu in Dynamic Cheatsheet, arXiv 2504.07952).

    The model sees the question, the answer, what became known of it, and the cheatsheet; what it writes is read as
    changes (`rewrite_operations`), which the guard judges like all others. Verdicts on bullets come from the
    reflection. A reply without a readable cheatsheet changes nothing else, and a note says so.

    Args:
        max_tokens: of each reply; the cheatsheet that is shown must leave room in it.
        max_bullets: how many bullets the model is shown at most: those that stood in the prompt of the attempt, then
            others by utility. What it was not shown, it cannot leave out.

    Raises:
        ModelError: from `curate`, when the call itself failed.
    """

    def __init__(self, model: Model, *, max_tokens: int = 4096, max_bullets: int = 60) -> None:
        self.model = model
        self._max_tokens = max_tokens
        self._max_bullets = max_bullets

    def curate(self, reflected: Sequence[Reflected], memory: MemoryView) -> Curation:
        shown = self._shown(reflected, memory)
        sheet = ask_whole_sheet(self.model, self._request(reflected, shown), "rewrite")
        tags, skipped = tag_operations(reflected, memory)
        if sheet.playbook is None:
            told = "The memory was not rewritten."
            return Curation(operations=tags, skipped=skipped, usage=sheet.usage, notes=(*sheet.notes, told))
        rewritten = rewrite_operations(sheet.playbook, memory, shown=shown, complete=sheet.complete)
        return Curation(
            operations=(*tags, *rewritten.operations),
            skipped=skipped,
            by="model",
            usage=sheet.usage,
            notes=(*sheet.notes, *rewritten.notes),
        )

    def _shown(self, reflected: Sequence[Reflected], memory: MemoryView) -> list[Bullet]:
        """The bullets as they are in the memory now, as many as can be written out in a reply."""
        served = (memory.bullet(bullet.id) for each in reflected for bullet in each.attempt.bullets)
        active = [bullet for bullet in served if bullet is not None and bullet.status == "active"]
        best = memory.bullets(order="utility", limit=self._max_bullets)
        return fitting([*active, *best][: self._max_bullets], self._max_tokens)

    def _request(self, reflected: Sequence[Reflected], shown: Sequence[Bullet]) -> Request:
        prompt = render(
            "rewrite",
            sheet=data_block("sheet", as_text(shown)),
            attempts=_attempts_text(reflected),
            words=words_in(self._max_tokens),
        )
        return Request(messages=({"role": "user", "content": prompt},), max_tokens=self._max_tokens)


def _attempts_text(reflected: Sequence[Reflected]) -> str:
    """What was asked, answered and found out; numbered where it was more than one question."""
    texts: list[str] = []
    for number, each in enumerate(reflected, start=1):
        name = "the new work" if len(reflected) == 1 else f"work {number}"
        texts += [
            f"The question of {name}:\n{data_block('question', each.attempt.query.text)}",
            f"What was answered:\n{data_block('answer', _answer_text(each))}",
            f"What became known of the answer:\n{data_block('known', _known_text(each))}",
        ]
    return "\n\n".join(texts)


def _answer_text(each: Reflected) -> str:
    reply = (clip(each.attempt.reasoning.strip(), _MAX_CHARS), clip(each.attempt.answer, _MAX_CHARS))
    return "\n\n".join(part for part in reply if part) or "(empty)"


def _known_text(each: Reflected) -> str:
    feedback, reflection = each.attempt.feedback, each.reflection
    lines = (
        {True: "It was right.", False: "It was wrong.", None: ""}[reflection.correct],
        "" if feedback.expected is None else f"The right answer: {feedback.expected}",
        f"Comment: {feedback.comment}" if feedback.comment else "",
        f"What differs: {reflection.difference}" if reflection.difference else "",
        f"Cause: {reflection.root_cause}" if reflection.root_cause else "",
        f"Insight: {reflection.key_insight}" if reflection.key_insight else "",
    )
    return "\n".join(line for line in lines if line) or "(nothing)"
