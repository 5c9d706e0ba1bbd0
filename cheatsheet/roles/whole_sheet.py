"""Whole cheatsheets as models read and write them: the form of Dynamic Cheatsheet (arXiv 2504.07952)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from cheatsheet.errors import ModelError
from cheatsheet.llm.model import Model, Outcome, Reply, Request, Usage
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.formats.dc_text import finished_items, last_block, open_block
from cheatsheet.memory.formats.dynamic_cheatsheet import DynamicCheatsheetFormat
from cheatsheet.memory.formats.format import Playbook
from cheatsheet.memory.gate.stand_ins import stand_ins
from cheatsheet.memory.likeness.sameness import fold
from cheatsheet.memory.refine import estimate_tokens
from cheatsheet.roles.asking import more_room
from cheatsheet.roles.prompts import PromptName, sheet_in
from cheatsheet.roles.replies import strip_thinking, well_formed

_FORMAT = DynamicCheatsheetFormat()
_SHARE_OF_REPLY = 0.75  # of the room for the reply that the present sheet may fill: the rest is for what is new
_WORDS_PER_TOKEN = 0.6  # of English with formulas and code


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeSheet:
    """A cheatsheet that a model wrote.

    Attributes:
        playbook: None when the reply holds none; the last note then says why.
        complete: whether what is not in it was left out; false for one that breaks off, or that says itself that other
            items stay.
        model: who wrote it.
        usage: of all calls.
    """

    playbook: Playbook | None
    complete: bool = False
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()


def fitting(bullets: Iterable[Bullet], max_tokens: int) -> list[Bullet]:
    """The first bullets, each once, that a reply of so many tokens has room for in full, grouped by section."""
    room = max_tokens * _SHARE_OF_REPLY
    kept: dict[str, Bullet] = {}
    for bullet in bullets:
        room -= 0 if bullet.id in kept else estimate_tokens(bullet.content)
        if room < 0:
            break
        kept[bullet.id] = bullet
    order = list(dict.fromkeys(bullet.section for bullet in kept.values()))
    return sorted(kept.values(), key=lambda bullet: order.index(bullet.section))


def words_in(max_tokens: int) -> str:
    """About how many words a reply of so many tokens has room for, in round figures."""
    return f"{max(50, round(max_tokens * _WORDS_PER_TOKEN, -2)):,.0f}"


def as_text(bullets: Sequence[Bullet]) -> str:
    """The items as a model is to write them, without the tags around the whole, and without sources."""
    text = _FORMAT.write([bullet.model_copy(update={"sources": ()}) for bullet in bullets]).text
    return text.removeprefix("<cheatsheet>").rstrip().removesuffix("</cheatsheet>").strip()


def ask_whole_sheet(model: Model, request: Request, name: PromptName) -> WholeSheet:
    """Ask for a cheatsheet.

    A reply that breaks off is asked for once more with twice the room, as far as the window reaches. When that breaks
    off too, or fails, its finished items are what there is, and the sheet is not complete.

    Args:
        name: of the prompt, whose own example is not taken for an item.

    Raises:
        ModelError: the first call failed.
    """
    reply = model.complete(request)
    sheet = read_whole_sheet(reply, name)
    if reply.outcome is not Outcome.LENGTH or _closed(reply.text):
        return sheet
    room = more_room(model, request, reply)
    why = f"The reply of {reply.model} was cut at {request.max_tokens} tokens"
    if room <= request.max_tokens:
        return replace(sheet, notes=(f"{why}, and the window has no more room.", *sheet.notes))
    try:
        longer = model.complete(replace(request, max_tokens=room))
    except ModelError as error:
        return replace(sheet, notes=(f"{why}; asking again with room for {room} failed: {error}", *sheet.notes))
    again = read_whole_sheet(longer, name)
    best = again if again.playbook is not None else sheet
    notes = (f"{why}; it was asked for again with room for {room}.", *again.notes)
    return replace(best, usage=reply.usage + longer.usage, notes=notes)


def read_whole_sheet(reply: Reply, name: PromptName) -> WholeSheet:
    """The cheatsheet in a reply: what stands in its last complete `<cheatsheet>…</cheatsheet>`.

    Where none is complete, an open one is read: up to its last finished item when the reply was cut, and to its end
    otherwise.
    """
    if not reply.readable:
        return _none(reply, f"The reply of {reply.model} is {reply.outcome}.")
    text = strip_thinking(well_formed(reply.text))
    block, opened = last_block(text), open_block(text)
    if block is not None:
        return _sheet(reply, text[slice(*block)], name, closed=True)
    if opened is None:
        return _none(reply, f"The reply of {reply.model} holds no cheatsheet.")
    cut = reply.outcome is Outcome.LENGTH
    rest = finished_items(text[opened:]) if cut else text[opened:]
    how = "breaks off; its finished items are kept" if cut else "has no closing tag; it was read to the end"
    return _sheet(reply, rest, name, closed=False, note=f"The cheatsheet of {reply.model} {how}.")


def _sheet(reply: Reply, text: str, name: PromptName, *, closed: bool, note: str = "") -> WholeSheet:
    playbook = _FORMAT.read(text)
    entries = tuple(entry for entry in playbook.entries if fold(entry.draft.content) not in _examples(name))
    notes = (note,) if note else ()
    if not entries:
        return _none(reply, *notes, f"The cheatsheet of {reply.model} holds no item.")
    return WholeSheet(
        playbook=replace(playbook, entries=entries),
        complete=closed and not stand_ins(text),
        model=reply.model,
        usage=reply.usage,
        notes=(*reply.notes, *notes),
    )


def _none(reply: Reply, *notes: str) -> WholeSheet:
    return WholeSheet(playbook=None, model=reply.model, usage=reply.usage, notes=(*reply.notes, *notes))


def _closed(text: str) -> bool:
    return last_block(strip_thinking(well_formed(text))) is not None


@cache
def _examples(name: PromptName) -> frozenset[str]:
    """The items by which a prompt shows the form, which some models give back as they stand."""
    return frozenset(fold(entry.draft.content) for entry in _FORMAT.read(sheet_in(name)).entries)
