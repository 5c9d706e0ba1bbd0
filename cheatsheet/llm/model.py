"""What answers a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol, TypedDict, runtime_checkable


class Message(TypedDict):
    """One message in OpenAI's chat form, text only."""

    role: Literal["system", "user", "assistant"]
    content: str


class Outcome(StrEnum):
    """How a call that came back ended."""

    OK = "ok"
    LENGTH = "length"  # cut by max_tokens; the text so far is there
    EMPTY = "empty"  # no choices, no content, or blank content
    FILTERED = "filtered"  # a safety filter kept the answer back
    TOOL_CALLS = "tool-calls"  # the reply holds only tool calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens and calls that were used; adds up with `+`.

    `cost_usd` is None where the price of a call is unknown; a sum with an unknown part is marked by `cost_complete`.
    `cached_tokens` are the part of `prompt_tokens` that the provider did not have to read again.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    calls: int = 0
    cost_usd: float | None = None
    cost_complete: bool = True
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        known = [usage.cost_usd for usage in (self, other) if usage.cost_usd is not None]
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            calls=self.calls + other.calls,
            cost_usd=sum(known) if known else None,
            cost_complete=self.cost_complete and other.cost_complete,
            seconds=self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question to a model.

    Attributes:
        messages: chat messages. Empty when `prompt` is given.
        prompt: a text to be continued as it stands, for models that complete better than they chat; only for
            models whose `capabilities.continuation` is true. None when `messages` is given.
        max_tokens: room for the answer.
        choices: the answer is one of these texts; used where `capabilities.choices` is true.
        json_schema: the answer is JSON of this schema; used where `capabilities.json_schema` is true.
        stop: texts at which the answer ends (they are not part of it).
    """

    messages: tuple[Message, ...] = ()
    prompt: str | None = None
    max_tokens: int = 2048
    temperature: float = 0.0
    choices: tuple[str, ...] = ()
    json_schema: Mapping[str, Any] | None = None
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.messages) == (self.prompt is not None):
            raise ValueError("A request has either messages or a prompt.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back.

    Attributes:
        text: the answer; empty unless `outcome` is OK or LENGTH.
        notes: what had to be done to get it (parameters dropped, a try repeated, a fallback used, a price unknown),
            and why there is no text where there is none.
    """

    text: str
    outcome: Outcome
    model: str
    usage: Usage = field(default_factory=Usage)
    finish_reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def readable(self) -> bool:
        """True when there is a text to read."""
        return self.outcome in (Outcome.OK, Outcome.LENGTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a model can do.

    Attributes:
        context_window: tokens of prompt and answer together; None when unknown.
        continuation: it can continue a plain text (`Request.prompt`).
        prefers_continuation: it answers better by continuing a text than by chatting (small or base models).
        choices: it can be held to `Request.choices`.
        json_schema: it can be held to `Request.json_schema`.
    """

    context_window: int | None = None
    continuation: bool = False
    prefers_continuation: bool = False
    choices: bool = False
    json_schema: bool = False


@runtime_checkable
class Model(Protocol):
    """Answers requests.

    L1  A call that comes back is a `Reply`, also when it is empty, filtered or cut; its usage is booked.
    L2  A call that does not come back raises a `ModelError`; whether it is worth another try is decided inside,
        within a bounded time.
    L3  Anything else that is raised is a fault of the program.
    L4  Calls from several threads are safe.
    """

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def complete(self, request: Request) -> Reply: ...
