"""Many questions at once in an event loop: the async twins of recall, learn and solve."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import cheatsheet
from cheatsheet.llm.model import Model

TICKETS = ["My card was charged twice", "My card was charged two times", "Why was my card charged again?"]


async def main(
    answer: Callable[[str], Awaitable[str]], model: str | Model = "openai/gpt-4o-mini", path: str = "tickets.db"
) -> list[str]:
    """Answer all tickets at once with an agent of one's own, then one more with the memory's model.

    Args:
        answer: an agent, from a prompt to its answer.
        model: answers in `asolve`.
        path: where the memory is kept.
    """
    with cheatsheet.open(path, model=model) as memory:

        async def live(ticket: str) -> str:
            recall = await memory.arecall(ticket)
            said = await answer(f"{recall.text}\n\n{ticket}")
            await memory.alearn(recall, said, expected="amber")
            return said

        answers = await asyncio.gather(*map(live, TICKETS))
        turn = await memory.asolve("My card was charged three times", expected="amber")
        return [*answers, turn.answer]


async def guess(prompt: str) -> str:
    """In the place of an agent."""
    return "amber" if "amber" in prompt else "crimson"


if __name__ == "__main__":
    print(asyncio.run(main(guess)))
