"""Learning in the background: an answer does not wait for its lesson, and none is lost when the program ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import cheatsheet
from cheatsheet.interfaces.agents import BackgroundLearner

TICKETS = [("My card was charged twice", "amber"), ("The app closes when I open a photo", "crimson")]


def main(
    model: Callable[[str], str], tickets: Iterable[tuple[str, str]] = TICKETS, path: str = "tickets.db"
) -> tuple[list[str], dict[str, int]]:
    """Answer tickets at once, and learn meanwhile; returns the answers, and what became of the lessons.

    Args:
        model: from a prompt to its completion.
        tickets: each with the team that turns out to be right.
        path: where the memory is kept.
    """
    answers = []
    with cheatsheet.open(path) as memory, BackgroundLearner(memory, max_waiting=100, batch_size=8) as learner:
        for ticket, team in tickets:
            recall = memory.recall(ticket)
            answers.append(model(f"{recall.text}\n\n{ticket}"))
            future = learner.learn(recall, answers[-1], expected=team)
            future.add_done_callback(lambda lesson: print(lesson.exception() or lesson.result().experience_id))
        learner.flush()  # only to read the counts; leaving the block waits as well
        return answers, learner.counts


if __name__ == "__main__":
    print(main(lambda prompt: "amber" if "charged" in prompt else "crimson"))
