"""How many prompt tokens of an agent's session come from the model's prompt cache, by the order of the sections.

    python -m benchmarks.perf.cache [--questions 6] [--repeat 3] [--model local/smollm2-135m] [--json]

The session is a morning at work: a home with files of usual length, a repository in which files appear, tickets that
are answered and learnt from, a log that grows with every turn, a clock that goes on from the morning into the working
hours. Each prompt is the adaptive context as chat messages, with the ticket in the last one. Every session is lived in
both orders, one after the other, from the same beginnings and with a cold cache; the repetitions have other tickets.
Token counts do not depend on how busy the machine is. Nearly all of the time is the model's, which reads some 50,000
tokens anew: a quarter of an hour on one slow core.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import Final, get_args
from zoneinfo import ZoneInfo

from benchmarks.perf import figures
from benchmarks.perf.figures import notice
from benchmarks.tasks.rows import TaskRow
from benchmarks.tasks.ticket_routing import load
from cheatsheet.context.compiler import Order
from cheatsheet.context.home import create_home
from cheatsheet.interfaces.adaptive import AdaptiveContext
from cheatsheet.interfaces.wiring import build_engine
from cheatsheet.llm.gguf_files import is_local
from cheatsheet.llm.model import Message, Model, Request, Usage
from cheatsheet.llm.registry import make_model
from cheatsheet.settings import Settings, load_settings

ORDERS: Final[tuple[Order, ...]] = get_args(Order)
ZONE: Final = ZoneInfo("Europe/Berlin")
START: Final = datetime(2026, 1, 5, 8, 30, tzinfo=ZONE)
TURNS_MINUTES: Final = (4, 7, 5, 9, 6, 8)  # one after the other: no two turns take equally long

_HOME: Final[Mapping[str, str]] = {
    "USER.md": """The user is Mara, who leads the support of an online shop and reads every answer before it goes out.

- Languages: English and German; answers to customers in the customer's language.
- Works on: routing tickets, answering them, and the small tools that do so.
- Prefers: the answer first, then one reason. Lists of three at most.
- Does not want: apologies, guesses that look like facts, changes to files that were not asked for.
""",
    "MEMORY.md": """- 2026-01-02: Refunds above 500 euros are signed by two people; the limit was 300 until last year.
- 2025-12-19: The parcel service tells delays by e-mail only; its web page is a day behind.
- 2025-12-18: Card numbers never go into a ticket, not even the last four digits.
- 2025-12-11: Tickets about gift cards went to the wrong team for a week; ask when in doubt.
- 2025-12-03: The test suite needs the database of the test shop; start it with `make shop`.
- 2025-11-27: Customers who write twice within an hour are answered once, to both messages.
""",
    "TOOLS.md": """- Tests: `pytest -q`, two minutes; `pytest -q tests/unit` takes ten seconds.
- Style: `ruff check .` and `ruff format .` before every commit.
- Shop: the test shop answers at http://localhost:8080, the real one is never called from here.
- Tickets: `tools/tickets.py next` prints the next one, `tools/tickets.py route ID TEAM` sends it on.
- Release: only Mara releases.
""",
    "skills/reply/SKILL.md": """---
name: reply
description: Write a reply to a customer, in the customer's language, from the facts of the ticket.
---
""",
    "skills/report/SKILL.md": """---
name: report
description: Sum up a day of tickets as a table with counts for each team.
---
""",
    "skills/release-notes/SKILL.md": """---
name: release-notes
description: Turn merged changes into release notes that a customer understands.
---
""",
    "memory/2026-01-04.md": "# 2026-01-04\n\n## 17:40\n\nFinished the routing table; to do tomorrow: its tests.\n",
}
_PROJECT: Final = """[project]
name = "ticket-router"
dependencies = ["fastapi>=0.115", "sqlalchemy>=2.0", "httpx>=0.27", "jinja2>=3.1", "pydantic>=2.9", "uvicorn>=0.30"]

[project.scripts]
tickets = "tools.tickets:main"
"""


@dataclass(frozen=True, slots=True)
class Session:
    """What one session took.

    Attributes:
        prompts: prompt tokens of each call, and how many of them came from the cache.
    """

    order: Order
    seed: int
    prompts: tuple[tuple[int, int], ...]

    @property
    def prompt_tokens(self) -> int:
        return sum(prompt for prompt, _ in self.prompts)

    @property
    def cached_tokens(self) -> int:
        return sum(cached for _, cached in self.prompts)

    @property
    def share(self) -> float:
        """Of the prompt tokens, those from the cache."""
        return self.cached_tokens / self.prompt_tokens


@dataclass(slots=True)
class _Clock:
    """The time in a session."""

    now: datetime = field(default=START)

    def __call__(self) -> datetime:
        return self.now


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=6, help="in one session")
    parser.add_argument("--repeat", type=int, default=3, help="sessions in each order")
    parser.add_argument("--mode", default="retrieval", help="memory mode")
    parser.add_argument("--model", default="local/smollm2-135m", help="whose cache is measured")
    parser.add_argument("--threads", type=int, default=1, help="of a local model; more are slower on a busy machine")
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    extra = {"threads": options.threads} if is_local(options.model) else {}
    model = make_model(options.model, extra=extra)
    sessions = measure(model, questions=options.questions, repeat=options.repeat, mode=options.mode)
    figures.show(sessions, as_table, as_json=options.json)


def measure(model: Model, *, questions: int, repeat: int, mode: str = "retrieval") -> list[Session]:
    """Live every session in both orders, in turn; the order that comes first changes as well."""
    sessions: list[Session] = []
    for seed in range(repeat):
        tickets = load(seed)[:questions]
        for order in ORDERS if seed % 2 == 0 else ORDERS[::-1]:
            notice(f"session {seed + 1} of {repeat}, order {order!r} …")
            sessions.append(Session(order, seed, live(model, tickets, order=order, mode=mode)))
    return sessions


def live(model: Model, tickets: Sequence[TaskRow], *, order: Order, mode: str) -> tuple[tuple[int, int], ...]:
    """One session from its beginning; returns the prompt tokens of every call, and those from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        home, work = Path(folder) / "home", Path(folder) / "ticket-router"
        settings = _settings(home, order=order, mode=mode)
        _prepare(home, work)
        clock = _Clock()
        _ask(model, [{"role": "user", "content": f"{order}: another conversation, in order to empty the cache"}])
        with build_engine(settings) as engine:
            agent = AdaptiveContext(settings, lambda: engine, workspace=work, clock=clock)
            prompts: list[tuple[int, int]] = []
            for number, ticket in enumerate(tickets):
                question = str(ticket["input"])
                found = agent.context_for(question)
                usage = _ask(model, found.context.messages_for(question))
                prompts.append((usage.prompt_tokens, usage.cached_tokens))
                lesson = f"wrong: such tickets go to the {ticket['target']} team"
                engine.learn(found.recall or question, "unsure", feedback=lesson, expected=ticket["target"])
                agent.after_turn(question, answer=ticket["target"], outcome="right", by=mode)
                _work(home, work, number, clock)
    return tuple(prompts)


def as_table(sessions: Sequence[Session]) -> str:
    """A Markdown table; shares are means over sessions, with the lowest and the highest."""
    titles = (
        "order",
        "sessions",
        "prompt tokens a session",
        "from the cache",
        "share (lowest to highest)",
        "read anew",
    )
    rows = []
    for order in ORDERS:
        lived = [session for session in sessions if session.order == order]
        shares = [session.share for session in lived]
        prompt, cached = mean(s.prompt_tokens for s in lived), mean(s.cached_tokens for s in lived)
        share = f"{mean(shares):.1%} ({min(shares):.1%} to {max(shares):.1%})"
        rows.append((order, len(lived), f"{prompt:,.0f}", f"{cached:,.0f}", share, f"{prompt - cached:,.0f}"))
    return figures.table(titles, rows)


def _settings(home: Path, *, order: Order, mode: str) -> Settings:
    """Patient settings: a provider that is late on a busy machine would be a section less."""
    return load_settings(
        home=home,
        order=order,
        mode=mode,
        embedder="hashing",
        time_zone="Europe/Berlin",
        provider_timeout_s=60.0,
        git_timeout_s=30.0,
    )


def _ask(model: Model, messages: Sequence[Message]) -> Usage:
    """The usage of a call; the answer does not matter, since what is learnt is the same in both orders."""
    return model.complete(Request(messages=tuple(messages), max_tokens=2)).usage


def _prepare(home: Path, work: Path) -> None:
    create_home(home)
    for name, text in _HOME.items():
        path = home / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (home / "BOOTSTRAP.md").unlink()
    work.mkdir()
    (work / "pyproject.toml").write_text(_PROJECT, encoding="utf-8")
    _git(work, "init", "--quiet", "--initial-branch=main")
    _git(work, "add", "--all")
    _git(work, "-c", "user.name=Bench", "-c", "user.email=bench@example.com", "commit", "--quiet", "-m", "first")


def _work(home: Path, work: Path, number: int, clock: _Clock) -> None:
    """What happens until the next question: the log was written now, files appear, and the clock goes on."""
    log = home / "memory" / f"{clock.now.date().isoformat()}.md"
    os.utime(log, (clock.now.timestamp(),) * 2)
    if number % 3 == 1:
        (work / f"step_{number:02}.py").write_text("# under way\n", encoding="utf-8")
    if number % 8 == 5:
        with (home / "MEMORY.md").open("a", encoding="utf-8") as memory:
            memory.write("- 2026-01-05: Tickets that name two problems are answered as two.\n")
    clock.now += timedelta(minutes=TURNS_MINUTES[number % len(TURNS_MINUTES)])


def _git(folder: Path, *arguments: str) -> None:
    """Run git with nothing of whoever measures."""
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True)


if __name__ == "__main__":
    main()
