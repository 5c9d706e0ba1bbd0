"""The adaptive context at the doors: what an agent starts from, with what the memory recalls for its question.

The settings say where and how; the clock and the time zone are read here, so that the core is given moments.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cheatsheet.context.adaptive import Assembled, assemble, keep
from cheatsheet.context.compiled import CompiledContext
from cheatsheet.context.providers.daily_log import append_turn
from cheatsheet.context.providers.limits import Limits
from cheatsheet.context.providers.loading import told
from cheatsheet.context.providers.provider import ContextRequest, Note, Provider
from cheatsheet.context.providers.registry import default_providers, installed_providers, load_provider
from cheatsheet.context.providers.running import Runner
from cheatsheet.context.providers.time_mode import DEFAULT_TIME_MODES, TimeModes
from cheatsheet.context.providers.zones import local_zone, time_zone
from cheatsheet.errors import CheatsheetError
from cheatsheet.interfaces.counter import build_counter
from cheatsheet.interfaces.memory_part import MemoryPart, Opener, nothing_to_open, recall_part

if TYPE_CHECKING:
    from cheatsheet.engine.results import Recall
    from cheatsheet.settings import Settings

Clock = Callable[[], datetime]

# What is stored is small; whoever waits longer for another process would rather do without.
_LOCK_S: Final = 2.0
# Kinds of notes about what is missing from the context; the other kinds stand in it, or are of no consequence.
_WARNINGS: Final = ("left-out", "damaged")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentContext:
    """What an agent starts from.

    Attributes:
        now: the moment it is for, in the user's time zone.
        context: what fits into the budget, and the ledger of what does not.
        assembled: all that wanted to be in it, the part of the day, whether the session goes on, and what changed.
        notes: what could not be done, what changed, and which files need care.
        recall: what the memory's part of it comes from, so that the turn can be learnt; None where there is none.
    """

    now: datetime
    context: CompiledContext
    assembled: Assembled
    notes: tuple[Note, ...]
    recall: Recall | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes about what is missing from the context, as sentences."""
        return tuple(note.text for note in self.notes if note.kind in _WARNINGS)


class AdaptiveContext:
    """Makes the context for every question of a process: it remembers its providers and what they have cached.

    Safe for use from several threads.

    Args:
        settings: home, time zone, time modes, providers, budget and the rest.
        open_engine: gives the memory when it is needed for the first time; None where there is none.
        workspace: the folder that is worked in.
        clock: None reads the system's.

    Raises:
        SettingsError, UnknownNameError: a time zone, time mode or counter that does not exist.
        SetupError: a provider that the settings name cannot be loaded.
    """

    def __init__(
        self,
        settings: Settings,
        open_engine: Opener = nothing_to_open,
        *,
        workspace: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.zone = zone_of(settings, os.environ)
        self._settings = settings
        self._open_engine = open_engine
        self._workspace = workspace
        self._clock = clock or (lambda: datetime.now(self.zone))
        self._limits = Limits(
            provider_timeout_s=settings.provider_timeout_s,
            git_timeout_s=min(settings.git_timeout_s, settings.provider_timeout_s),
        )
        self._time_modes = time_modes_of(settings)
        self._counter = build_counter(settings)
        self._providers, self._provider_notes = providers_of(settings)
        self._runner = Runner()

    def context_for(
        self, query: str = "", *, minimal: bool = False, budget: int | None = None, at: datetime | None = None
    ) -> AgentContext:
        """The context for a question, or for the start of a session where nothing is asked yet.

        What was seen is kept in the home, where there is one, so that the next context tells what changed. A memory
        that cannot be read is left out, and the notes say so.

        Args:
            minimal: for an agent that was started by an agent.
            budget: in tokens, for this call instead of the setting.
            at: the context of another moment, to look at; a time without a zone is in the user's. Nothing is kept.

        Raises:
            BudgetError: a negative budget.
            SetupError: the memory cannot be opened with these settings.
        """
        now = self._moment(at)
        memory = recall_part(query, self._settings.mode, self._open_engine)
        request = ContextRequest(
            now=now,
            home=self._settings.home_folder,
            workspace=self._workspace,
            mode="minimal" if minimal else "full",
            query=query,
            limits=self._limits,
            time_modes=self._time_modes,
        )
        assembled = assemble(request, self._providers, memory_sections=memory.sections, runner=self._runner)
        assembled = replace(assembled, left_out=(*memory.left_out, *assembled.left_out))
        context = self._compiled(assembled, budget, memory)
        return AgentContext(
            now=now,
            context=context,
            assembled=assembled,
            notes=(
                *self._provider_notes,
                *memory.notes,
                *assembled.notes,
                *(self._kept(assembled, now) if at is None else ()),
            ),
            recall=memory.recall(context),
        )

    def after_turn(self, query: str, *, answer: str = "", outcome: str = "", by: str = "") -> tuple[Note, ...]:
        """Write a turn into today's log; returns why that could not be done, where it could not.

        The home is made where it is absent.

        Args:
            outcome: what is known of the answer, such as "right".
            by: who worked, such as the name of an agent.
        """
        try:
            home = self._settings.home_folder
            append_turn(home, self._moment(None), query=query, answer=answer, outcome=outcome, by=by, lock_s=_LOCK_S)
        except CheatsheetError as error:
            return told("damaged", "daily-log", f"The turn is not in the log. {error}")
        return ()

    def _moment(self, at: datetime | None) -> datetime:
        moment = self._clock() if at is None else at
        return moment.replace(tzinfo=self.zone) if moment.tzinfo is None else moment.astimezone(self.zone)

    def _compiled(self, assembled: Assembled, budget: int | None, memory: MemoryPart) -> CompiledContext:
        settings = self._settings
        window = memory.engine.options.context_window if memory.engine else settings.context_window
        return assembled.compiled(
            budget_tokens=settings.token_budget if budget is None else budget,
            counter=self._counter,
            overflow=settings.overflow,
            window_tokens=window,
            reserved_tokens=settings.max_tokens,
            order=settings.order,
        )

    def _kept(self, assembled: Assembled, now: datetime) -> tuple[Note, ...]:
        """Keep what was seen; looking alone makes no home."""
        home = self._settings.home_folder
        if not home.is_dir():
            return ()
        try:
            keep(home, assembled, now, lock_s=_LOCK_S)
        except CheatsheetError as error:
            return told("damaged", "state", f"What was seen is not kept, or only in part. {error}")
        return ()


def zone_of(settings: Settings, environment: Mapping[str, str]) -> tzinfo:
    """The user's time zone: that of the settings, or else that of the machine.

    Raises:
        SettingsError: it is not known here.
    """
    return time_zone(settings.time_zone) if settings.time_zone else local_zone(environment)


def time_modes_of(settings: Settings) -> TimeModes:
    """The table of the day.

    Raises:
        SettingsError, UnknownNameError: the hours of the settings do not make up a day, or name no time mode.
    """
    return DEFAULT_TIME_MODES if settings.time_modes is None else TimeModes.parse(settings.time_modes)


def providers_of(settings: Settings) -> tuple[tuple[Provider, ...], tuple[Note, ...]]:
    """Our providers, those of the settings and those of installed packages; a broken one of these is told.

    Raises:
        SetupError: one of the settings cannot be loaded.
    """
    named = tuple(load_provider(path) for path in settings.providers)
    installed, notes = installed_providers()
    return (*default_providers(), *named, *installed), notes


def current_folder() -> Path | None:
    """The folder that this process works in; None where it was deleted meanwhile."""
    try:
        return Path.cwd()
    except OSError:
        return None
