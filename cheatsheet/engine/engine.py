"""The engine: recall → compile → generate → reflect → curate → grow and refine → store → events."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from cheatsheet.context.compiler import CompiledContext, compile_context
from cheatsheet.engine.feedback import FeedbackLike, as_feedback, compare
from cheatsheet.engine.lived import Lived, recall_of, stored, turn_of
from cheatsheet.engine.options import Clock, EngineOptions, Judge, Record
from cheatsheet.engine.results import Lesson, MemoryStats, Recall, Turn
from cheatsheet.errors import OperationError, SetupError
from cheatsheet.events import CommitEvent, Events, Metrics, RecallEvent
from cheatsheet.llm.model import Usage
from cheatsheet.memory.experience import Experience, Feedback, Query
from cheatsheet.memory.grow import grow
from cheatsheet.memory.journal import Cause, Change, Committed, JournalEntry
from cheatsheet.memory.operations import Operation, Tag
from cheatsheet.memory.refine import refine
from cheatsheet.memory.retriever import Retriever
from cheatsheet.memory.store import DEFAULT_NAMESPACE, MemoryStore
from cheatsheet.memory.store_view import StoreView
from cheatsheet.mode import Learned, MemoryMode, Recalled
from cheatsheet.roles.role import Attempt, Generator
from cheatsheet.tokens import TokenCounter
from indexes.embedder import Embedder


def _now() -> datetime:
    return datetime.now(UTC)


class Engine:
    """A memory that is open, in one mode.

    Safe for use from several threads; a model call in flight holds no lock. Close it, or use it as a context manager.
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        retriever: Retriever,
        embedder: Embedder,
        mode: MemoryMode,
        counter: TokenCounter,
        generator: Generator | None = None,
        model_name: str = "",
        namespace: str = DEFAULT_NAMESPACE,
        options: EngineOptions | None = None,
        clock: Clock = _now,
    ) -> None:
        self.mode = mode
        self.namespace = namespace
        self.model_name = model_name
        self.options = options or EngineOptions()
        self.metrics = Metrics()
        self.events = Events([self.metrics])
        self._store = store
        self._embedder = embedder
        self._generator = generator
        self._counter = counter
        self._clock = clock
        weight = self.options.refine.harmful_weight
        self.memory = StoreView(store, retriever, namespace=namespace, harmful_weight=weight)

    # One turn

    def recall(self, query: str | Query, *, token_budget: int | None = None) -> Recall:
        """The context for a question. Reads only, unless the mode makes something of its own while it recalls.

        Args:
            token_budget: for this call instead of the setting.

        Raises:
            BudgetError: a negative budget.
        """
        started = time.perf_counter()
        asked = _as_query(query)
        version = self.memory.version
        recalled = self.mode.recall(asked, self.memory)
        if recalled.operations:
            self._commit(Change(at=self._clock(), cause="recall", mode=self.mode.name, operations=recalled.operations))
        context = self._compile(asked, recalled, token_budget)
        recall = recall_of(asked, recalled, context, self.mode.name, version, time.perf_counter() - started)
        self.events.emit(
            RecallEvent(
                namespace=self.namespace,
                mode=self.mode.name,
                tokens=recall.tokens,
                shown=len(recall.bullets) + len(recall.experiences),
                seconds=recall.seconds,
            )
        )
        return recall

    def learn(
        self,
        recall: Recall | Query | str,
        answer: str,
        *,
        feedback: FeedbackLike = None,
        expected: str | None = None,
        used: Sequence[str] = (),
        reasoning: str = "",
        trajectory: Iterable[dict[str, Any]] = (),
        turn_id: str = "",
    ) -> Lesson:
        """Learn from an answer that somebody gave.

        Args:
            recall: what `recall` returned for the question, or the question itself where nothing was recalled.
            feedback: right or wrong (bool), a score from 0 to 1, a comment, or a `Feedback`.
            expected: the right answer, where it is known.
            used: ids of the bullets that the answerer says it used.
            turn_id: a name for the turn; it can be learnt once.

        Raises:
            OperationError: `turn_id` was learnt before.
            StoreError: the memory could not be written; nothing was learnt.
        """
        self._check_new(turn_id)
        given = as_feedback(feedback, expected)
        if given.verdict is None and expected is not None:
            given = given.model_copy(update={"correct": compare(answer, expected).correct})
        known = recall if isinstance(recall, Recall) else None
        attempt = Attempt(
            query=_as_query(recall.query if isinstance(recall, Recall) else recall),
            answer=answer.strip(),
            feedback=given,
            reasoning=reasoning,
            bullets=tuple(hit.value for hit in known.bullets) if known else (),
            used=tuple(used),
        )
        lived = Lived(attempt=attempt, recall=known, trajectory=tuple(trajectory), started=time.perf_counter())
        lesson, _ = self._keep(lived, turn_id=turn_id, record=None)
        return lesson

    def solve(
        self,
        query: str | Query,
        *,
        expected: str | None = None,
        judge: Judge | None = None,
        turn_id: str = "",
        record: Record | None = None,
    ) -> Turn:
        """The whole loop in one call: recall, answer, judge, learn.

        Args:
            expected: the right answer; the answer is right when it is equal but for case and white space.
            judge: says what is known about the answer, instead of `expected`.
            record: makes what is to be stored with the turn in the same transaction; see `recorded`.

        Raises:
            SetupError: the memory was opened without a model.
            ModelError: the call of the model failed; nothing was learnt.
            OperationError: `turn_id` was learnt before; the model was not asked.
            StoreError: the memory could not be written; a note on the error holds the answer.
        """
        self._check_new(turn_id)
        generator = self._needed_generator()
        started = time.perf_counter()
        recall = self.recall(query)
        generation = generator.generate(recall.query, context=recall.context.system, examples=recall.context.examples)
        attempt = Attempt(
            query=recall.query,
            answer=generation.answer,
            feedback=_judged(generation.answer, expected, judge),
            reasoning=generation.reasoning,
            bullets=tuple(hit.value for hit in recall.bullets),
            used=generation.used,
        )
        lived = Lived(attempt=attempt, recall=recall, generation=generation, started=started)
        try:
            lesson, usage = self._keep(lived, turn_id=turn_id, record=record)
        except Exception as error:
            error.add_note(f"The question had been answered, but the turn was not stored. Answer: {attempt.answer}")
            raise
        return turn_of(lived, lesson, usage)

    # The memory itself

    def apply(self, operations: Iterable[Operation], *, cause: Cause = "user", grow_adds: bool = True) -> Committed:
        """Change the memory by hand, in one transaction.

        Args:
            grow_adds: whether new bullets that are known already are merged instead of added.
        """
        wanted = tuple(operations)
        notes: Sequence[str] = ()
        if grow_adds:
            grown = grow(wanted, self.memory, self._embedder, threshold=self.options.grow_threshold)
            wanted, notes = tuple(grown.operations), grown.notes
        change = Change(at=self._clock(), cause=cause, mode=self.mode.name, operations=wanted, notes=tuple(notes))
        return self._commit(change)

    def refine(self) -> Committed | None:
        """Archive what is expired, harmful or over the limits now; None when there is nothing to archive."""
        now = self._clock()
        due = refine(self.memory, self.options.refine, now=now)
        return self._commit(Change(at=now, cause="refine")) if due else None

    def history(self, *, limit: int | None = None, after: int = 0) -> Sequence[JournalEntry]:
        """The journal, newest first."""
        return self._store.journal(self.namespace, after=after, limit=limit, newest_first=True)

    def learnt(self, turn_id: str) -> bool:
        """Whether a turn of this name is in the journal."""
        return self._store.entry_of_turn(self.namespace, turn_id) is not None

    def recorded(self, turn_id: str) -> dict[str, Any] | None:
        """What `record` made of a turn, as it was stored with it."""
        entry = self._store.entry_of_turn(self.namespace, turn_id)
        return None if entry is None else entry.record

    def stats(self) -> MemoryStats:
        """How large the memory is."""
        return MemoryStats(
            bullets=self.memory.count_bullets(),
            archived=self.memory.count_bullets("archived"),
            merged=self.memory.count_bullets("merged"),
            experiences=self.memory.count_experiences(),
            version=self.memory.version,
        )

    def close(self) -> None:
        """Close the memory file; closing twice is closing once."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # Steps of a turn

    def _compile(self, query: Query, recalled: Recalled, token_budget: int | None) -> CompiledContext:
        overhead = self._counter.count(self._generator.overhead(query)) if self._generator else 0
        return compile_context(
            recalled.sections,
            budget_tokens=self.options.token_budget if token_budget is None else token_budget,
            counter=self._counter,
            overflow=self.options.overflow,
            window_tokens=self.options.context_window,
            reserved_tokens=self.options.answer_tokens + overhead,
        )

    def _keep(self, lived: Lived, *, turn_id: str, record: Record | None) -> tuple[Lesson, Usage]:
        """Let the mode learn, then store the turn; returns the lesson and the usage of the whole turn."""
        learned = self.mode.learn(lived.attempt, self.memory)
        usage = learned.usage + (lived.generation.usage if lived.generation else Usage())
        usage += lived.recall.usage if lived.recall else Usage()
        grown = grow(learned.operations, self.memory, self._embedder, threshold=self.options.grow_threshold)
        used = [Tag(id=bullet.id, uses=1) for bullet in lived.attempt.bullets]
        operations = (*grown.operations, *used)
        proposed = Lesson(
            operations=operations,
            reflection=learned.reflection,
            skipped=learned.skipped,
            notes=(*learned.notes, *grown.notes),
            usage=learned.usage,
        )
        recorded = record(turn_of(lived, proposed, usage)) if record else None
        if not (operations or learned.remember or recorded is not None or turn_id):
            return replace(proposed, version=self.memory.version), usage
        committed = self._commit(self._change(lived, learned, proposed, usage, turn_id, recorded))
        return stored(proposed, committed), usage

    def _change(
        self,
        lived: Lived,
        learned: Learned,
        lesson: Lesson,
        usage: Usage,
        turn_id: str,
        recorded: dict[str, Any] | None,
    ) -> Change:
        at = self._clock()
        return Change(
            at=at,
            cause="turn",
            turn_id=turn_id,
            mode=self.mode.name,
            model=self.model_name,
            operations=lesson.operations,
            experience=self._experience(lived, usage, at) if learned.remember else None,
            record=recorded,
            notes=(*lesson.skipped, *lesson.notes),
        )

    def _experience(self, lived: Lived, usage: Usage, at: datetime) -> Experience:
        attempt = lived.attempt
        return Experience(
            query=attempt.query.text,
            answer=attempt.answer,
            choices=attempt.query.choices,
            reasoning=attempt.reasoning,
            trajectory=lived.trajectory,
            feedback=attempt.feedback,
            bullets=tuple(bullet.id for bullet in attempt.bullets),
            used=attempt.used,
            mode=self.mode.name,
            model=self.model_name if lived.generation else "",
            prompt_tokens=usage.prompt_tokens if lived.generation else None,
            completion_tokens=usage.completion_tokens if lived.generation else None,
            cost_usd=usage.cost_usd,
            created_at=at,
            metadata=dict(attempt.query.metadata),
        )

    def _commit(self, change: Change) -> Committed:
        """Store a change, refined, in one transaction."""
        started = time.perf_counter()
        policy = self.options.refine
        committed = self._store.commit(self.namespace, change, then=lambda: refine(self.memory, policy, now=change.at))
        seconds = time.perf_counter() - started
        self.events.emit(CommitEvent(namespace=self.namespace, entry=committed.entry, seconds=seconds))
        return committed

    def _check_new(self, turn_id: str) -> None:
        if turn_id and self.learnt(turn_id):
            raise OperationError(f"The turn {turn_id!r} was learnt before; a turn is learnt once. Give a new turn_id.")

    def _needed_generator(self) -> Generator:
        if self._generator is None:
            raise SetupError(
                "This memory was opened without a model, so it cannot answer. Open it with model='openai/gpt-4o-mini', "
                "model='local/smollm2-135m' or any other model that LiteLLM knows; recall and learn work without one."
            )
        return self._generator


def _as_query(query: str | Query) -> Query:
    return query if isinstance(query, Query) else Query(text=query)


def _judged(answer: str, expected: str | None, judge: Judge | None) -> Feedback:
    if judge is not None:
        return judge(answer)
    return Feedback() if expected is None else compare(answer, expected)
