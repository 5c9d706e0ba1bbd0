"""How bullets and experiences look in a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cheatsheet.context.layout import indented
from cheatsheet.context.section import ChatTurn, Item, Section, Shorten
from cheatsheet.memory.bullet import Bullet
from cheatsheet.memory.experience import Experience
from cheatsheet.safety.invisible import visible

# Long-term memory stands at priority 7 among the sections of an agent's context.
MEMORY_PRIORITY = 7


def bullet_line(bullet: Bullet) -> str:
    """`[calc-00012] advice`; further lines are indented, so that no text can pose as a bullet of its own."""
    return f"[{bullet.id}] {indented(visible(bullet.content).strip())}"


def bullets_section(bullets: Sequence[Bullet], *, shorten: Shorten) -> Section:
    """Bullets, one item each, in the order given."""
    return Section(
        name="bullets",
        priority=MEMORY_PRIORITY,
        text="Lessons from earlier work:" if bullets else "",
        items=tuple(Item(text=bullet_line(bullet), id=bullet.id) for bullet in bullets),
        shorten=shorten,
        data=True,
    )


def experience_sections(experiences: Sequence[Experience]) -> tuple[Section, Section]:
    """Earlier questions, in the order given; the first ones are left out first when the budget is short.

    Those with an answer worth showing become examples. Those whose answer was wrong, and whose right answer nobody
    told, are listed as mistakes: as examples they would be copied.
    """
    examples = [(experience, experience.known_answer) for experience in experiences]
    return (
        Section(
            name="mistakes",
            priority=MEMORY_PRIORITY,
            text="Earlier answers that were wrong:" if any(answer is None for _, answer in examples) else "",
            items=tuple(Item(text=_mistake(e), id=e.id) for e, answer in examples if answer is None),
            shorten="drop-first",
            data=True,
        ),
        Section(
            name="experiences",
            priority=MEMORY_PRIORITY,
            turns=tuple(_turns(examples)),
            shorten="drop-first",
            data=True,
        ),
    )


def _turns(examples: Iterable[tuple[Experience, str | None]]) -> Iterable[ChatTurn]:
    for experience, answer in examples:
        if answer is not None:
            yield ChatTurn(user=visible(experience.query), assistant=visible(answer), id=experience.id)


def _mistake(experience: Experience) -> str:
    comment = f" ({experience.feedback.comment})" if experience.feedback.comment else ""
    return "- " + indented(visible(f"{experience.query}\nwas wrongly answered: {experience.answer}{comment}"))
