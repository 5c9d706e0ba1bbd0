"""The guard against collapse: one gate for whatever a mode, an importer or a model's merge proposes.

It compares the memory before and after. A cheatsheet that is written anew again and again loses what it knew: in ACE's
paper (arXiv 2510.04618, section 2) one step took it from 18,282 tokens to 122; in the published runs of Dynamic
Cheatsheet "[Previous content preserved…]" stands where advice was. What the gate refuses is archived, not lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cheatsheet.memory.apply import survivor_of
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.gate.archiving import archived, archived_proposal
from cheatsheet.memory.gate.guard_past import Past
from cheatsheet.memory.gate.guard_policy import (
    EARLIER_WORDING_OF,
    LEFT_OUT,
    PROPOSED_FOR,
    UNSAID,
    Guarded,
    GuardPolicy,
    Refused,
)
from cheatsheet.memory.gate.guard_removals import staying
from cheatsheet.memory.gate.holdings import held, loses
from cheatsheet.memory.gate.stand_ins import own_words, stand_ins
from cheatsheet.memory.likeness.sameness import fold
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Restore, Update
from cheatsheet.memory.view import MemoryView

__all__ = ["EARLIER_WORDING_OF", "LEFT_OUT", "PROPOSED_FOR", "GuardPolicy", "Guarded", "Refused", "guard"]


def guard(operations: Iterable[Operation], memory: MemoryView, policy: GuardPolicy | None = None) -> Guarded:
    """Judge operations before they are applied; small and sane ones pass as they are.

    - Nothing becomes empty, and no words become such that only stand in the place of others.
    - A wording that drops most of what the old one held is refused: the old words stay, the new ones are archived.
      One that shrinks, but not by that much, passes, and the old words are archived; so are a few words that others
      replace altogether. What only corrects or adds passes without more.
    - A merge whose words drop most of what one of its parts held changes nothing; a new bullet in it is added.
    - Pinned bullets stay. So do all bullets where too many would go at once, or too many went over time.

    Guarding what was guarded changes nothing. Operations that cannot be applied pass: the store names them.
    """
    pending, policy = list(operations), policy or GuardPolicy()
    past = Past(memory, policy.window)
    places, refused = staying(pending, past, policy)
    gate = _Gate(past, policy, refused)
    for index, operation in enumerate(pending):
        if index not in places:
            gate.take(operation)
    return Guarded(tuple(gate.passed), tuple(gate.refused))


class _Gate:
    """One batch of operations on its way, without the removals that are refused.

    Attributes:
        passed: what may be applied.
        refused: what may not.
    """

    def __init__(self, past: Past, policy: GuardPolicy, refused: list[Refused]) -> None:
        self.passed: list[Operation] = []
        self.refused = refused
        self._past = past
        self._policy = policy
        self._words: dict[str, str] = {}  # of bullets that this batch gives new ones
        self._archiving: set[str] = set()  # folded words of drafts that this batch archives

    def take(self, operation: Operation) -> None:
        """Let one operation pass, changed where it must be, or refuse it."""
        if isinstance(operation, Add):
            self._take_add(operation)
        elif isinstance(operation, Update):
            self._take_update(operation)
        elif isinstance(operation, Merge):
            self._take_merge(operation)
        elif isinstance(operation, Restore) and operation.state is not None and self._past.active(operation.id):
            told = f"The state of {operation.id} was not set back: only a person rolls a memory back."
            self._refuse(told, operation)
        elif isinstance(operation, Remove) and self._past.active(operation.id) and not operation.reason.strip():
            self.passed.append(operation.model_copy(update={"reason": UNSAID}))
        else:
            self.passed.append(operation)

    # New bullets

    def _take_add(self, operation: Add) -> None:
        draft = operation.draft
        rest = own_words(draft.content) if draft.status == "active" else None
        if not draft.content.strip():
            self._refuse("A bullet without words was not added.", operation)
        elif rest is None:
            if draft.status == "archived":
                self._archiving.add(fold(draft.content))
            self.passed.append(operation)
        elif rest:
            told = f"{_short(draft.content)} was added without the words in it that stand in the place of others."
            self._refuse(told, operation)
            self.passed.append(operation.model_copy(update={"draft": draft.model_copy(update={"content": rest})}))
        else:
            why = "it only stands in the place of other words"
            self._refuse(f"{_short(draft.content)} was not added: {why}.", operation)
            self._archive(archived(draft, why))

    # New words

    def _take_update(self, operation: Update) -> None:
        bullet = self._past.active(operation.id)
        if bullet is None:
            self.passed.append(operation)
            return
        if bullet.pinned and operation.pinned is False:
            self._refuse(f"{bullet.id} stays pinned: only a person takes a pin away.", operation)
            operation = operation.model_copy(update={"pinned": None})
        if operation.content is not None:
            operation = self._reworded(operation, bullet, operation.content)
        if operation.model_dump(exclude={"type", "id"}, exclude_none=True):
            self.passed.append(operation)

    def _reworded(self, operation: Update, bullet: Bullet, content: str) -> Update:
        """The update, without its words where they are refused."""
        reason = self._drops([bullet], content)
        if not reason:
            self._accept(bullet, content)
            return operation
        self._refuse(f"{bullet.id} keeps its words: {reason}.", operation)
        self._archive_proposal(bullet, content, reason)
        return operation.model_copy(update={"content": None})

    def _take_merge(self, operation: Merge) -> None:
        survivor = self._past.active(survivor_of(operation.into, self._past.any_status))
        absorbed = [bullet for id in operation.absorbed if (bullet := self._past.active(id))]
        if survivor is None or len(absorbed) < len(operation.absorbed):
            self.passed.append(operation)
            return
        reason = self._why_no_merge(operation, survivor, absorbed)
        if reason:
            self._refuse_merge(operation, survivor, reason)
            return
        if operation.content is not None:
            self._accept(survivor, operation.content)
        self.passed.append(operation)

    def _why_no_merge(self, operation: Merge, survivor: Bullet, absorbed: Sequence[Bullet]) -> str:
        pinned = [bullet.id for bullet in absorbed if bullet.pinned]
        if pinned:
            return f"{pinned[0]} is pinned"
        if operation.content is None:
            return self._drops(absorbed, self._words_of(survivor))
        draft = operation.draft.content if operation.draft else ""
        reason = self._drops([survivor, *absorbed], operation.content, draft)
        lost = self._loses(draft, operation.content) if draft and not reason else ""
        return f"{lost} of the new bullet" if lost else reason

    def _refuse_merge(self, operation: Merge, survivor: Bullet, reason: str) -> None:
        others = ", ".join(operation.absorbed) or "A new bullet"
        self._refuse(f"{others} was not merged into {survivor.id}: {reason}.", operation)
        if operation.content is not None:
            self._archive_proposal(survivor, operation.content, reason)
        if operation.draft is not None:
            self._take_add(Add(draft=operation.draft))

    def _drops(self, bullets: Sequence[Bullet], content: str, beside: str = "") -> str:
        """Why new words would lose what these bullets hold; blank where they do not.

        Args:
            beside: further words that they are made from.
        """
        if not content.strip():
            return "the new words are empty"
        known = "\n".join([beside, *map(self._words_of, bullets)])
        added = [words for words in stand_ins(content) if words not in known]
        if bullets and added:
            return f"the new words stand in the place of others: {_short(added[0])}"
        for bullet in bullets:
            reason = self._drops_of(bullet, content)
            if reason:
                return f"{reason} of {bullet.id}" if len(bullets) > 1 else reason
        return ""

    def _drops_of(self, bullet: Bullet, content: str) -> str:
        now = self._words_of(bullet)
        reason = self._loses(now, content) or self._loses(bullet.content, content)
        if reason or held(now, content).lost_words == 0:
            return reason
        fullest = self._past.fullest_wording(bullet)
        further = held(fullest, content).lost_words > held(fullest, now).lost_words
        return self._loses(fullest, content) if further else ""

    def _loses(self, old: str, new: str) -> str:
        return loses(old, new, min_kept=self._policy.min_kept, small_change=self._policy.small_change)

    def _words_of(self, bullet: Bullet) -> str:
        return self._words.get(bullet.id, bullet.content)

    def _accept(self, bullet: Bullet, content: str) -> None:
        """Give the bullet new words; the old ones are archived unless little of them is gone: losses have a name."""
        before = self._words_of(bullet)
        loss = held(before, content)
        mostly_gone = loss.word_share < self._policy.min_kept
        if loss.shrinks or mostly_gone or loss.lost_words > self._policy.small_change:
            reason = f"{bullet.id} has other words since, without {loss.lost_words} of {loss.words} words"
            draft = Draft(section=bullet.section, content=before, tags=bullet.tags, sources=bullet.sources)
            self._archive(archived(draft, reason, {EARLIER_WORDING_OF: bullet.id}))
        self._words[bullet.id] = content

    # What becomes of what is refused

    def _refuse(self, text: str, *operations: Operation) -> None:
        self.refused.append(Refused(operations=operations, text=text))

    def _archive_proposal(self, bullet: Bullet, content: str, reason: str) -> None:
        if content.strip():
            self._archive(archived_proposal(bullet, content, reason))

    def _archive(self, words: Add) -> None:
        """Keep words without serving them, once."""
        key = fold(words.draft.content)
        if key not in self._archiving and key not in self._past.archived_words:
            self._archiving.add(key)
            self.passed.append(words)


def _short(text: str, length: int = 60) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= length else f"{line[:length]}…")
