"""Compiled contexts and ledgers as people read them. UPDATE_GOLDEN=1 writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

from cheatsheet.context.compiler import compile_context, render_ledger
from cheatsheet.context.section import ChatTurn, Item, Section
from cheatsheet.tokens import CharCounter, TiktokenCounter

GOLDEN = Path(__file__).parent.parent / "golden"


def matches(name: str, text: str) -> bool:
    """Whether the golden file has this text; writes it instead where UPDATE_GOLDEN is set."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="\n")
    return path.read_text(encoding="utf-8") == text


def test_the_worked_example_of_the_reference() -> None:
    """8,000 tokens of 4 characters: 13,500 characters are left for the section of 15,000, and none for the last."""
    wanted = {10: 500, 9: 2_000, 8: 500, 7: 3_000, 6: 2_000, 5: 10_000, 4: 500, 3: 15_000, 2: 1_000}
    sections = [Section(name=f"p{p}", priority=p, text="x" * chars) for p, chars in wanted.items()]
    context = compile_context(sections, budget_tokens=8_000, counter=CharCounter(4), separator="")
    given = {section.priority: len(section.text) for section in context.shown}
    assert given == {**{p: chars for p, chars in wanted.items() if p > 3}, 3: 13_500}
    assert len(context.text) == 32_000
    assert context.tokens == 8_000
    assert matches("context_worked_example.txt", render_ledger(context.ledger, context.budget))


def test_a_context_of_a_support_agent() -> None:
    context = compile_context(
        _support_sections(),
        budget_tokens=8_000,
        counter=TiktokenCounter("cl100k_base"),
        window_tokens=4_096,
        reserved_tokens=3_842,
    )
    ledger = render_ledger(context.ledger, context.budget)
    assert matches("context_support.txt", f"{context.text}\n\n{'=' * 120}\n\n{ledger}")


def _support_sections() -> list[Section]:
    lessons = (
        ("billing-00003", "A double charge goes to the amber team; say that the refund takes five working days."),
        ("billing-00007", "A charge in a foreign currency is no double charge: compare the amounts first."),
        ("parcel-00001", "A parcel without a scan for seven days goes to the crimson team."),
    )
    return [
        Section(name="identity", priority=10, text="You sort the tickets of a shop.", stable=True),
        Section(name="user", priority=8, text="Answers are one word: the name of the team.", stable=True),
        Section(
            name="bullets",
            priority=7,
            text="Lessons from earlier work:",
            items=tuple(Item(id=id, text=f"[{id}] {text}") for id, text in lessons),
            shorten="drop-last",
            data=True,
        ),
        Section(
            name="experiences",
            priority=7,
            turns=(
                ChatTurn(id="exp-00002", user="Where is my parcel?", assistant="crimson"),
                ChatTurn(id="exp-00009", user="I paid twice for one order.", assistant="amber"),
            ),
            shorten="drop-first",
            data=True,
        ),
        Section(
            name="workspace",
            priority=6,
            text="How a ticket is routed:\n\n```python\n"
            + "\n".join(f"route({ticket!r}, team={team!r})" for ticket, team in _ROUTES * 4)
            + "\n```\n\nRoutes are read from the top.",
        ),
        Section(name="skills", priority=5),
        Section(name="log", priority=3, text="09:10 The shop opened. " * 30),
    ]


_ROUTES = (("double charge", "amber"), ("lost parcel", "crimson"), ("password", "blue"))
