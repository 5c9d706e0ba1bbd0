"""The engine: recall → compile → generate → reflect → curate → grow and refine → store → events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cheatsheet.context.compiler import CompiledContext, compile_context
from cheatsheet.engine.answering import attempt_of, generate
from cheatsheet.engine.asynchronous import AsyncTwins
from cheatsheet.engine.batch import Batch
from cheatsheet.engine.feedback import FeedbackLike, compare
from cheatsheet.engine.kept import KeptMemory, Moment, utc_now
from cheatsheet.engine.lived import Answered, Lived, as_query, lived_elsewhere, recall_of, stopwatch, turn_of, uses
from cheatsheet.engine.options import Clock, EngineOptions, Judge, Record
from cheatsheet.engine.recalls import RecallCache
from cheatsheet.engine.results import Lesson, Recall, Turn
from cheatsheet.errors import OperationError, SetupError
from cheatsheet.events import RecallEvent
from cheatsheet.llm.model import Usage
from cheatsheet.memory.experience import Feedback, Query
from cheatsheet.memory.refine import refinement_notes
from cheatsheet.memory.search.retriever import Retriever
from cheatsheet.memory.store import DEFAULT_NAMESPACE, MemoryStore
from cheatsheet.memory.view import MemoryView
from cheatsheet.mode import BatchMode, LearnedBatch, MemoryMode, Recalled
from cheatsheet.roles.role import Attempt, Generator
from cheatsheet.tokens import TokenCounter
from indexes.embedder import Embedder


class Engine(AsyncTwins, KeptMemory):
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
        clock: Clock = utc_now,
    ) -> None:
        super().__init__(
            store=store,
            retriever=retriever,
            embedder=embedder,
            namespace=namespace,
            options=options,
            clock=clock,
            changed_by=mode.name,
        )
        self.mode = mode
        self.model_name = model_name
        self._generator = generator
        self._counter = counter
        self._recalls = RecallCache(self.options.recall_cache)

    # One turn

    def recall(self, query: str | Query, *, token_budget: int | None = None, as_of: Moment | None = None) -> Recall:
        """The context for a question. Reads only, unless the mode makes something of its own while it recalls.

        The same question, asked again before the memory changed, is not compiled again.

        Args:
            token_budget: for this call instead of the setting.
            as_of: a version, a time or the id of a turn: what would have been recalled then. Nothing is written.

        Raises:
            BudgetError: a negative budget.
            OperationError: the memory has no such version, time or turn.
        """
        if as_of is not None:
            return self._compiled(as_query(query), self.past(as_of), self._budget(token_budget))
        recall = self._recall(as_query(query), token_budget)
        if recall.operations:
            taken = self._take_in(recall.operations, cause="recall", seen=recall.version)
            self._commit_taken(taken, "recall")
        return recall

    def learn(
        self,
        recall: Recall | Query | str | None = None,
        answer: str | None = None,
        *,
        feedback: FeedbackLike = None,
        expected: str | None = None,
        used: Sequence[str] = (),
        reasoning: str = "",
        trajectory: Iterable[Mapping[str, Any]] = (),
        turn_id: str = "",
    ) -> Lesson:
        """Learn from an answer that somebody gave.

        Args:
            recall: what `recall` returned for the question, or the question itself where nothing was recalled; may be
                left out where the trajectory begins with it.
            answer: may be left out where the trajectory ends with it.
            feedback: right or wrong (bool), a score from 0 to 1, a comment, or a `Feedback`.
            expected: the right answer, where it is known.
            used: ids of the bullets that the answerer says it used.
            trajectory: the whole exchange as chat messages in OpenAI's form, with tool calls and their results.
            turn_id: a name for the turn; it can be learnt once.

        Raises:
            OperationError: `turn_id` was learnt before, or there is no question or no answer.
            StoreError: the memory could not be written; nothing was learnt.
        """
        given = Answered(
            recall=recall,
            answer=answer,
            feedback=feedback,
            expected=expected,
            used=used,
            reasoning=reasoning,
            trajectory=tuple(trajectory),
            turn_id=turn_id,
        )
        return self.learn_batch([given])[0]

    def learn_batch(self, turns: Sequence[Answered]) -> list[Lesson]:
        """Learn from several answers at once: each is reflected, one curation serves them all, in one transaction.

        Raises:
            OperationError: a `turn_id` was learnt before, or the mode cannot learn several turns at once.
            StoreError: the memory could not be written; nothing was learnt.
        """
        for turn in turns:
            self._check_new(turn.turn_id)
        lived = [lived_elsewhere(turn) for turn in turns]
        return [lesson for lesson, _ in self._keep(lived)] if lived else []

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

        The turn's answer is the first one. Where the Reflector is a model, a wrong answer is given again with the
        reflection shown (`reflection_depth`); that is for learning only.

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
        (turn,) = self.solve_batch(
            [as_query(query)], judges=[_judge(expected, judge)], turn_ids=[turn_id], records=[record]
        )
        return turn

    def solve_batch(
        self,
        queries: Sequence[str | Query],
        *,
        judges: Sequence[Judge],
        turn_ids: Sequence[str] = (),
        records: Sequence[Record | None] = (),
    ) -> list[Turn]:
        """Answer several questions with the same memory, then learn from all of them at once.

        Args:
            judges: one for each query.
            turn_ids, records: as for `solve`, one for each query or none at all.

        Raises:
            as `solve`; nothing is learnt unless every question was answered.
        """
        for turn_id in turn_ids:
            self._check_new(turn_id)
        lived = [
            self._answered(as_query(query), judge, turn_id, record)
            for query, judge, turn_id, record in zip(
                queries,
                judges,
                turn_ids or [""] * len(queries),
                records or [None] * len(queries),
                strict=True,
            )
        ]
        try:
            kept = self._keep(lived) if lived else []
        except Exception as error:
            for one in lived:
                answer = one.attempt.answer
                error.add_note(f"The question had been answered, but the turn was not stored. Answer: {answer}")
            raise
        return [turn_of(one, lesson, usage) for one, (lesson, usage) in zip(lived, kept, strict=True)]

    def answer(self, query: str | Query, *, expected: str | None = None, judge: Judge | None = None) -> Turn:
        """Recall and answer, but learn nothing and write nothing, as for validation.

        Raises:
            SetupError, ModelError: as `solve`.
        """
        lived = self._answered(as_query(query), _judge(expected, judge), "", None, write=False)
        return turn_of(lived, Lesson(version=self.memory.version), lived.usage)

    # Steps of a turn

    def _recall(self, query: Query, token_budget: int | None) -> Recall:
        elapsed = stopwatch(self.options.timer)
        budget = self._budget(token_budget)
        recall = self._recalls.get(
            query,
            version=self.memory.version,
            token_budget=budget,
            make=lambda: self._compiled(query, self.memory, budget),
        )
        recall = replace(recall, seconds=elapsed())
        self.events.emit(
            RecallEvent(
                namespace=self.namespace,
                mode=self.mode.name,
                tokens=recall.tokens,
                shown=len(recall.bullets) + len(recall.experiences),
                seconds=recall.seconds,
                cached=recall.cached,
            )
        )
        return recall

    def _compiled(self, query: Query, memory: MemoryView, budget: int) -> Recall:
        elapsed, version = stopwatch(self.options.timer), memory.version
        recalled = self.mode.recall(query, memory)
        context = self._compile(query, recalled, budget)
        return recall_of(query, recalled, context, self.mode.name, version, elapsed())

    def _budget(self, token_budget: int | None) -> int:
        return self.options.token_budget if token_budget is None else token_budget

    def _compile(self, query: Query, recalled: Recalled, token_budget: int) -> CompiledContext:
        overhead = self._counter.count(self._generator.overhead(query)) if self._generator else 0
        return compile_context(
            recalled.sections,
            budget_tokens=token_budget,
            counter=self._counter,
            overflow=self.options.overflow,
            order=self.options.order,
            window_tokens=self.options.context_window,
            reserved_tokens=self.options.answer_tokens + overhead,
        )

    def _answered(
        self, query: Query, judge: Judge, turn_id: str, record: Record | None, *, write: bool = True
    ) -> Lived:
        generator = self._needed_generator()
        elapsed = stopwatch(self.options.timer)
        recall = self.recall(query) if write else self._recall(query, None)
        generation = generate(generator, recall, rounds=self.options.answer_rounds)
        return Lived(
            attempt=attempt_of(generator, recall, generation, judge),
            recall=recall,
            generation=generation,
            turn_id=turn_id,
            record=record,
            elapsed=elapsed,
        )

    def _keep(self, lived: Sequence[Lived]) -> list[tuple[Lesson, Usage]]:
        """Let the mode learn, then store the turns in one transaction; returns each lesson and the turn's usage."""
        brought, seen = self.refresh(), self.memory.version
        learned = self._learned([one.attempt for one in lived])
        taken = self._take_in(learned.operations, cause="turn", seen=seen)
        counted = uses(lived, experiences=self.options.evict.max_experiences is not None)
        lesson = Lesson(
            operations=(*taken.operations, *counted),
            skipped=(*learned.skipped, *taken.skipped),
            notes=(*brought, *learned.notes, *taken.notes),
            usage=learned.usage + taken.usage,
        )
        batch = Batch.of(lived, learned, lesson)
        if not batch.worth_storing:
            return batch.told(version=self.memory.version)
        beside, change, masked = batch.changes(
            at=self._clock(), mode=self.mode.name, model=self.model_name, options=self.options
        )
        committed = self._commit(change, seen=taken.seen, beside=beside, reflections=batch.reflections)
        archived = refinement_notes(committed.followed, self.memory, self.options.refine)
        return batch.stored(committed, (*masked, *committed.notes, *archived))

    def _learned(self, attempts: Sequence[Attempt]) -> LearnedBatch:
        if isinstance(self.mode, BatchMode):
            return self.mode.learn_batch(attempts, self.memory)
        if len(attempts) > 1:
            raise OperationError(
                f"The mode {self.mode.name!r} learns one turn at a time: it has no learn_batch (cheatsheet/mode.py)."
            )
        return LearnedBatch.of(self.mode.learn(attempts[0], self.memory))

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


def _judge(expected: str | None, judge: Judge | None) -> Judge:
    if judge is not None:
        return judge
    if expected is None:
        return lambda answer: Feedback()
    return lambda answer: compare(answer, expected)
