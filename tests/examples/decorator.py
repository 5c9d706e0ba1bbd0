"""A memory around a function from a question to an answer, whatever happens inside it."""

from __future__ import annotations

from collections.abc import Callable

import cheatsheet
from cheatsheet.interfaces.agents import remembers


def main(model: Callable[[str], str], path: str = "tickets.db") -> list[str]:
    """Ask the same twice: the second time, what was said about the first answer is known.

    Args:
        model: from a prompt to its completion.
        path: where the memory is kept.
    """

    def judge(question: str, answer: str) -> str:
        return "right" if answer == "amber" else "wrong: double charges go to the amber team"

    with cheatsheet.open(path) as memory:

        @remembers(memory, judge=judge)
        def route(ticket: str) -> str:
            return model(f"Name the team for this ticket, in one word.\n\n{ticket}")  # notes stand before the ticket

        @remembers(memory, judge=judge)
        def route_with_style(ticket: str, *, context: str = "") -> str:
            return model(f"{context}\n\nTicket: {ticket}\nTeam:")  # or where you want them

        return [route("My card was charged twice"), route_with_style("My card was charged two times")]


if __name__ == "__main__":
    from openai import OpenAI

    print(main(lambda prompt: OpenAI().responses.create(model="gpt-4o-mini", input=prompt).output_text))
