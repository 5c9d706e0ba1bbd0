"""What the engine tells those who listen, and the counters that most of them want."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from cheatsheet.memory.history.journal import JournalEntry
from cheatsheet.memory.operations import Add, Merge, Remove, Tag, Update
from cheatsheet.safety.logs import masking_logger

log = masking_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallEvent:
    """A context was compiled.

    Attributes:
        seconds: the engine's own time for it.
        shown: how many bullets and experiences stand in the context.
        cached: whether it had been compiled before.
    """

    namespace: str
    mode: str
    tokens: int
    shown: int
    seconds: float
    cached: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitEvent:
    """A change was stored.

    Attributes:
        reflections: how many reflections stand behind it.
    """

    namespace: str
    entry: JournalEntry
    seconds: float
    reflections: int = 0


Event = RecallEvent | CommitEvent
Listener = Callable[[Event], None]


@dataclass(slots=True)
class Events:
    """Listeners, called in the order in which they joined, in the engine's thread."""

    listeners: list[Listener] = field(default_factory=list)

    def emit(self, event: Event) -> None:
        """Tell everybody. A listener that raises is logged with its traceback; the turn is not lost for it."""
        for listener in self.listeners:
            try:
                listener(event)
            except Exception:
                log.exception("A listener failed on %s.", type(event).__name__)


@dataclass(slots=True)
class Metrics:
    """A listener that counts; the names in `as_dict` follow Prometheus."""

    recalls: int = 0
    recalls_with_memory: int = 0
    recalls_cached: int = 0
    recall_seconds: float = 0.0
    commits: int = 0
    commit_seconds: float = 0.0
    bullets_added: int = 0
    bullets_merged: int = 0
    bullets_archived: int = 0
    helpful_updates: int = 0
    harmful_updates: int = 0
    reflections: int = 0
    reflections_adopted: int = 0

    def __call__(self, event: Event) -> None:
        if isinstance(event, RecallEvent):
            self.recalls += 1
            self.recalls_with_memory += event.shown > 0
            self.recalls_cached += event.cached
            self.recall_seconds += event.seconds
            return
        self.commits += 1
        self.commit_seconds += event.seconds
        self.reflections += event.reflections
        if any(isinstance(operation, Add | Update | Merge) for operation in event.entry.operations):
            self.reflections_adopted += event.reflections
        for operation in event.entry.operations:
            self.bullets_added += isinstance(operation, Add)
            self.bullets_merged += isinstance(operation, Merge)
            self.bullets_archived += isinstance(operation, Remove)
            if isinstance(operation, Tag):
                self.helpful_updates += operation.helpful
                self.harmful_updates += operation.harmful

    def as_dict(self) -> dict[str, float]:
        """Counters by name. The hit rate is the share of recalls that showed anything from memory; a reflection is
        adopted where bullets were added, reworded or merged in the change that it led to.
        """
        return {
            "ace_recalls_total": self.recalls,
            "ace_context_hit_rate": self.recalls_with_memory / self.recalls if self.recalls else 0.0,
            "ace_recalls_cached_total": self.recalls_cached,
            "ace_recall_seconds_total": self.recall_seconds,
            "ace_commits_total": self.commits,
            "ace_commit_seconds_total": self.commit_seconds,
            "ace_bullets_added_total": self.bullets_added,
            "ace_bullets_merged_total": self.bullets_merged,
            "ace_bullets_archived_total": self.bullets_archived,
            "ace_helpful_updates_total": self.helpful_updates,
            "ace_harmful_updates_total": self.harmful_updates,
            "ace_reflections_total": self.reflections,
            "ace_reflections_adopted_share": self.reflections_adopted / self.reflections if self.reflections else 0.0,
        }
