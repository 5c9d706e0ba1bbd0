"""A memory behind every chat call through LiteLLM: nothing changes where the calls are made."""

from __future__ import annotations

import asyncio
from typing import Any

import litellm

import cheatsheet
from cheatsheet.interfaces.agents import CheatsheetLogger

MODEL = "openai/gpt-4o-mini"


def judge(question: str, answer: str) -> str | None:
    """What is known about an answer, where anything is: right or wrong, a score from 0 to 1, or words."""
    return "wrong: double charges go to the amber team" if "charged" in question and answer != "amber" else None


def main(path: str = "tickets.db", **call: Any) -> tuple[list[str], dict[str, int]]:
    """Ask in each of the ways that LiteLLM has; returns the answers, and what became of the calls.

    Args:
        path: where the memory is kept.
        call: further arguments of `litellm.completion`, such as `api_base`.
    """
    asked = [{"role": "user", "content": "Which team? My card was charged twice"}]
    with cheatsheet.open(path) as memory, CheatsheetLogger(memory, judge=judge) as logger:
        litellm.callbacks = [logger]

        reply = litellm.completion(model=MODEL, messages=asked, **call)
        answers = [reply.choices[0].message.content]
        logger.flush()  # only to have the lesson at once; else it is learnt in the background

        chunks = litellm.completion(model=MODEL, messages=asked, stream=True, **call)
        answers.append("".join(chunk.choices[0].delta.content or "" for chunk in chunks))
        logger.close()
        return answers, logger.counts


async def main_async(path: str = "tickets.db", **call: Any) -> str:
    """The same in an event loop."""
    asked = [{"role": "user", "content": "Which team? My card was charged two times"}]
    with cheatsheet.open(path) as memory, CheatsheetLogger(memory) as logger:
        litellm.callbacks = [logger]
        reply = await litellm.acompletion(model=MODEL, messages=asked, **call)
        await logger.aflush()
        return str(reply.choices[0].message.content)


if __name__ == "__main__":
    print(main())
    print(asyncio.run(main_async()))
