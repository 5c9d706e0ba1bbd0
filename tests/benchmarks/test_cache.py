"""The benchmark of the prompt cache, with a model that serves the longest common beginning from its cache."""

from __future__ import annotations

import json
import shutil

import pytest

from benchmarks.perf import cache
from benchmarks.perf.cache import ORDERS, Session, as_table, measure
from cheatsheet.llm.model import Capabilities, Outcome, Reply, Request, Usage

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the session works in a git repository")


class PrefixModel:
    """Counts characters; of the prompt before this one it keeps everything, of earlier ones nothing."""

    name = "prefix"
    capabilities = Capabilities()

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def complete(self, request: Request) -> Reply:
        prompt = "\0".join(message["content"] for message in request.messages)
        before = self.prompts[-1] if self.prompts else ""
        self.prompts.append(prompt)
        differ = (place for place, (a, b) in enumerate(zip(before, prompt, strict=False)) if a != b)
        same = next(differ, min(len(before), len(prompt)))
        usage = Usage(prompt_tokens=len(prompt), cached_tokens=same, calls=1)
        return Reply(text="amber", outcome=Outcome.OK, model=self.name, usage=usage)


def test_stability_brings_more_from_the_cache_than_priority() -> None:
    """The same session in both orders: the same questions, prompts of the same length, a log and a memory that grow."""
    model = PrefixModel()
    sessions = measure(model, questions=4, repeat=1)
    by_order = {session.order: session for session in sessions}
    assert [len(session.prompts) for session in sessions] == [4, 4]
    assert by_order["cache"].prompt_tokens == by_order["priority"].prompt_tokens
    assert by_order["cache"].share > 2 * by_order["priority"].share > 0
    assert all(session.prompts[0][1] < 10 for session in sessions), "the cache is cold at the beginning"
    last = model.prompts[-1]
    assert last.count("> - answered:") == 3
    assert "such tickets go to the" in last
    assert "step_01.py" in last


def test_sessions_are_lived_in_turn() -> None:
    sessions = measure(PrefixModel(), questions=1, repeat=2)
    assert [(session.seed, session.order) for session in sessions] == [
        (0, "priority"),
        (0, "cache"),
        (1, "cache"),
        (1, "priority"),
    ]


def test_the_table_has_means_and_their_spread() -> None:
    sessions = [
        Session("priority", 0, ((100, 0), (100, 20))),
        Session("priority", 1, ((100, 0), (100, 60))),
        Session("cache", 0, ((100, 0), (100, 90))),
    ]
    priority, cached = (line.split() for line in as_table(sessions).splitlines()[2:])
    assert " ".join(priority) == "| priority | 2 | 200 | 40 | 20.0% (10.0% to 30.0%) | 160 |"
    assert " ".join(cached) == "| cache | 1 | 200 | 90 | 45.0% (45.0% to 45.0%) | 110 |"


def test_it_prints_json(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "make_model", lambda name, extra: PrefixModel())
    cache.main(["--questions", "1", "--repeat", "1", "--json"])
    sessions = json.loads(capsys.readouterr().out)
    assert [session["order"] for session in sessions] == list(ORDERS)
    assert list(sessions[0]) == ["order", "seed", "prompts"]
