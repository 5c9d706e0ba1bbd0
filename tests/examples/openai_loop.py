"""A chat loop with the plain OpenAI client that gets better as it goes: recall before an answer, learn after it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from openai import OpenAI

import cheatsheet

TICKETS = [
    ("My card was charged twice", "amber"),
    ("The app closes when I open a photo", "crimson"),
    ("My card was charged two times", "amber"),
]


def main(client: OpenAI, tickets: Iterable[tuple[str, str]] = TICKETS, path: str = "tickets.db") -> list[str]:
    """Route tickets to teams; the right team is told after each answer.

    Args:
        client: `OpenAI()`, which reads its key from OPENAI_API_KEY.
        tickets: each with the team that turns out to be right.
        path: where the memory is kept.
    """
    answers = []
    with cheatsheet.open(path) as memory:
        for ticket, team in tickets:
            recall = memory.recall(f"Which team, amber or crimson? {ticket}")
            messages: list[Any] = [*recall.messages()]
            reply = client.chat.completions.create(model="gpt-4o-mini", messages=messages)
            answer = reply.choices[0].message.content or ""
            memory.learn(recall, answer, expected=team)
            answers.append(answer)
    return answers


if __name__ == "__main__":
    print(main(OpenAI()))
