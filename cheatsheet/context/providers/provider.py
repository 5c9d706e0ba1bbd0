"""Providers: each looks at one part of the world and says what wants to be in the context."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from cheatsheet.context.providers.continuation import FRESH, Continuation
from cheatsheet.context.providers.day_log import DayLog
from cheatsheet.context.providers.files import FileFact
from cheatsheet.context.providers.limits import Limits
from cheatsheet.context.providers.state import ContextState
from cheatsheet.context.providers.time_mode import DEFAULT_TIME_MODES, TimeMode, TimeModes
from cheatsheet.context.section import Section

Mode = Literal["full", "minimal"]
NoteKind = Literal["left-out", "damaged", "health", "change", "suggestion", "info"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One sentence for whoever asks what became of the context.

    Attributes:
        provider: name of the provider, or of the step, that it comes from.
    """

    kind: NoteKind
    provider: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """What a context is asked for.

    Attributes:
        now: with a time zone, which is the user's.
        home: the home directory; it need not exist.
        workspace: the folder that is worked in, or None.
        mode: `full`, or `minimal` for agents that were started by an agent.
        query: what is asked, or an empty string.
        state: what was seen last time; None reads it from the home.
        today: today's log; None reads it from the home.
        continuation: whether the session goes on; found from today's log.
    """

    now: datetime
    home: Path
    workspace: Path | None = None
    mode: Mode = "full"
    query: str = ""
    state: ContextState | None = None
    limits: Limits = field(default_factory=Limits)
    time_modes: TimeModes = DEFAULT_TIME_MODES
    today: DayLog | None = None
    continuation: Continuation = FRESH

    def __post_init__(self) -> None:
        if self.now.utcoffset() is None:
            raise ValueError(f"now is {self.now!r}; give a moment with the time zone of the user.")

    @property
    def time_mode(self) -> TimeMode:
        """The part of the day."""
        return self.time_modes.at(self.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provided:
    """What a provider returns.

    Attributes:
        sections: what wants to be in the context.
        notes: what it could not do, and what else is worth knowing.
        files: the files that it looked at, by which changes since last time and damage are found.
    """

    sections: tuple[Section, ...] = ()
    notes: tuple[Note, ...] = ()
    files: tuple[FileFact, ...] = ()


@runtime_checkable
class Provider(Protocol):
    """A part of the world that wants to be in the context.

    P1  It reads its own part of the world only: below `home` or `workspace` of the request, or what it was made with.
        Clock, time zone and limits are those of the request.
    P2  The same request and the same world give the same result.
    P3  Nothing in the world makes it raise: what is missing, damaged or too large is told in a note or a fact.
    P4  It writes nothing.
    P5  What others than the user wrote stands in its sections as data, quoted or as single lines (`context.fence`).
    P6  Its sections have names of their own, the same at every request.

    It runs in a thread of its own beside the others, and is left out when it takes longer than
    `limits.provider_timeout_s` or raises after all; the ledger says so.
    """

    @property
    def name(self) -> str:
        """The provider's own name; stands in the ledger."""
        ...

    def provide(self, request: ContextRequest) -> Provided: ...


@dataclass(frozen=True, slots=True)
class FunctionProvider:
    """A provider made of a function: for tests, and for small providers of one's own."""

    name: str
    function: Callable[[ContextRequest], Provided]

    def provide(self, request: ContextRequest) -> Provided:
        return self.function(request)
