"""The adaptive context: what an agent starts from at every request, by the part of the day, the place and the session.

One request goes through ten steps: (1) state of the home, (2) `full` or `minimal`, (3) part of the day, (4) providers
side by side, (5) continuation, (6) entities that matter now, (7) sections by priority, (8) `compile_context`,
(9) changes since last time, (10) file health. Changes and health are found before the context is compiled, since what
is said of them has to fit the budget too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, get_args

from cheatsheet.context.compiled import CompiledContext
from cheatsheet.context.compiler import Order, Overflow, compile_context
from cheatsheet.context.home import home_lock
from cheatsheet.context.layout import SEPARATOR
from cheatsheet.context.ledger import LedgerEntry
from cheatsheet.context.providers.changes import Changes, change_lines, compute_changes
from cheatsheet.context.providers.continuation import Continuation, detect_continuation
from cheatsheet.context.providers.day_log import LOG_FOLDER, read_log
from cheatsheet.context.providers.entities import Entity, EntityStore
from cheatsheet.context.providers.file_health import damage_lines, health_lines
from cheatsheet.context.providers.loading import Loaded, Plan, told
from cheatsheet.context.providers.provider import ContextRequest, Mode, Note, Provider
from cheatsheet.context.providers.registry import default_providers
from cheatsheet.context.providers.running import Outcome, Runner
from cheatsheet.context.providers.session import SessionNews, session_section
from cheatsheet.context.providers.state import ContextState, load_state, save_state
from cheatsheet.context.providers.time_mode import TimeMode
from cheatsheet.context.section import Section
from cheatsheet.errors import UnknownNameError
from cheatsheet.tokens import TokenCounter

SUB_AGENT: Final = Section(
    name="sub-agent",
    priority=10,
    text="# Sub-agent\n\nAnother agent started you for one task. Do that task, report the result, and do nothing else.",
    stable=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """All that wants to be in the context, before the budget decides.

    Attributes:
        sections: by priority, high to low; within a priority those that seldom change come first.
        left_out: providers and sections that are not loaded, with the reason, as entries of the ledger.
        notes: what else is worth telling whoever asks what became of the context.
        state: what the next request has to know; `keep` stores it.
        changes: of files of the home since last time.
    """

    sections: tuple[Section, ...]
    left_out: tuple[LedgerEntry, ...]
    notes: tuple[Note, ...]
    state: ContextState
    mode: Mode
    time_mode: TimeMode
    continuation: Continuation
    changes: Changes

    def compiled(
        self,
        *,
        budget_tokens: int,
        counter: TokenCounter,
        overflow: Overflow = "truncate",
        separator: str = SEPARATOR,
        window_tokens: int | None = None,
        reserved_tokens: int = 0,
        order: Order = "priority",
    ) -> CompiledContext:
        """The context within a budget, as `compile_context` makes it; its ledger also has what was not loaded.

        Raises:
            BudgetError, UnknownNameError, ValueError: as `compile_context`.
        """
        context = compile_context(
            self.sections,
            budget_tokens=budget_tokens,
            counter=counter,
            overflow=overflow,
            separator=separator,
            window_tokens=window_tokens,
            reserved_tokens=reserved_tokens,
            order=order,
        )
        return replace(context, ledger=(*context.ledger, *self.left_out))


def assemble(
    request: ContextRequest,
    providers: Sequence[Provider] | None = None,
    *,
    memory_sections: Iterable[Section] = (),
    runner: Runner | None = None,
) -> Assembled:
    """Everything that wants to be in the context of a request. Nothing is written: `keep` does that.

    The same request and the same world give the same sections, whatever order the providers finish in.

    Args:
        providers: None takes `default_providers()`. Whoever asks often makes them once: they remember skills.
        memory_sections: bullets and experiences as a memory mode recalls them, at priority 7. They are loaded at all
            hours and in both modes: what was learnt is as true at night.
        runner: one for all requests of a process, so that a provider that hangs is not started again and again.

    Raises:
        UnknownNameError: no such mode.
    """
    if request.mode not in get_args(Mode):
        raise UnknownNameError("context mode", request.mode, get_args(Mode))
    memory = tuple(memory_sections)
    prepared, state, notes = _prepared(request)
    plan = Plan.of(prepared)
    given = tuple(providers) if providers is not None else default_providers()
    outcomes = (runner or Runner()).run([p for p in given if plan.loads(p.name)], prepared)
    loaded = Loaded(plan=plan, taken={"session", SUB_AGENT.name, *(section.name for section in memory)})
    for outcome in outcomes:
        loaded.add(outcome)
    for provider in given:
        if not plan.loads(provider.name):
            loaded.skip(provider.name)
    seen = _digests(outcomes)
    changes = _changes(seen, state)
    return Assembled(
        sections=plan.ordered([*_opening(prepared, state, changes, loaded), *loaded.sections, *memory]),
        left_out=tuple(loaded.left_out),
        notes=(*notes, *loaded.notes, *_health(prepared, loaded), *told("change", "changes", *change_lines(changes))),
        state=state if prepared.mode == "minimal" else _next_state(state, seen, prepared),
        mode=prepared.mode,
        time_mode=prepared.time_mode,
        continuation=prepared.continuation,
        changes=changes,
    )


def keep(home: Path, assembled: Assembled, now: datetime, *, lock_s: float = 10.0) -> tuple[Entity, ...]:
    """Store what the next request has to know, and count the names in what is new in today's log; returns these.

    The home is made where it is absent. Several processes may do this at once: no line of the log is counted twice.
    A `minimal` request leaves no trace, so that changes are still told to the agent that they concern.

    Args:
        now: with the user's time zone, as in the request.

    Raises:
        StoreReadOnlyError, StoreBusyError: the home cannot be written.
        StoreCorruptError: the entities are damaged; the state is stored, and these names are not counted.
    """
    if assembled.mode == "minimal":
        return ()
    with home_lock(home, timeout_s=lock_s):
        stored, _ = load_state(home)
        today = read_log(home, now.date())
        counted_bytes = stored.log_bytes if stored.log_day == today.day else 0
        save_state(home, replace(assembled.state, log_day=today.day, log_bytes=today.size_bytes))
        return EntityStore(home).record_locked(today.written_after(counted_bytes), now)


def _prepared(request: ContextRequest) -> tuple[ContextRequest, ContextState, tuple[Note, ...]]:
    """Steps 1 and 5: the request with the state, today's log, and whether the session goes on."""
    state, problem = (request.state, "") if request.state is not None else load_state(request.home)
    today = request.today or read_log(request.home, request.now.date())
    limits = request.limits
    continuation = detect_continuation(
        today, request.now, within_minutes=limits.continuation_minutes, over_chars=limits.continuation_chars
    )
    notes = told("damaged", "state", problem) if problem else ()
    return replace(request, state=state, today=today, continuation=continuation), state, notes


def _digests(outcomes: Iterable[Outcome]) -> dict[str, dict[str, str]]:
    """For every provider that answered, the digests of its files; logs are told by their growth instead."""
    return {
        outcome.name: {
            fact.path: fact.digest
            for fact in outcome.provided.files
            if fact.digest and not fact.path.startswith(f"{LOG_FOLDER}/")
        }
        for outcome in outcomes
        if outcome.provided is not None
    }


def _changes(seen: Mapping[str, Mapping[str, str]], state: ContextState) -> Changes:
    """Step 9. A provider that answers for the first time has nothing to compare with, and changes nothing."""
    found = (compute_changes(files, state.files[name]) for name, files in seen.items() if name in state.files)
    return sum(found, Changes())


def _next_state(state: ContextState, seen: Mapping[str, Mapping[str, str]], request: ContextRequest) -> ContextState:
    """What was seen now, and of providers that were not asked or did not answer what was seen before."""
    return replace(state, files={**state.files, **seen}, log_day=request.now.date())


def _opening(request: ContextRequest, state: ContextState, changes: Changes, loaded: Loaded) -> list[Section]:
    """The section that a context starts with: of the session, or of a sub-agent."""
    if request.mode == "minimal":
        return [SUB_AGENT]
    suggestions = [note.text for note in loaded.notes if note.kind == "suggestion"]
    news = SessionNews(
        changes=change_lines(changes),
        care=(*damage_lines(loaded.files), *suggestions),
        first_run=state.is_first,
    )
    return [session_section(request, news)]


def _health(request: ContextRequest, loaded: Loaded) -> tuple[Note, ...]:
    """Step 10."""
    if not request.home.is_dir():
        text = f"The home {request.home} is not there yet; `cheatsheet init` makes it from templates."
        return told("health", "file-health", text)
    return told("health", "file-health", *health_lines(loaded.files))
