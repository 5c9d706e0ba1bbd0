"""Where everything meets: settings become an engine."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cheatsheet.engine.engine import Engine
from cheatsheet.engine.kept import utc_now
from cheatsheet.engine.options import Clock, Timer
from cheatsheet.engine.outside import Outside
from cheatsheet.interfaces import parts
from cheatsheet.interfaces.parts import Estimate
from cheatsheet.interfaces.role_models import ModelMaker
from cheatsheet.interfaces.stores import open_store, retriever_of
from cheatsheet.memory.incoming.hooks import DraftHook
from cheatsheet.memory.search.neighbours import Progress
from cheatsheet.mode import MemoryMode
from cheatsheet.roles.role import Generator
from cheatsheet.settings import Settings, load_settings
from cheatsheet.tokens import TokenCounter
from indexes.cached import CachedEmbedder
from indexes.embedder import Embedder
from modes.complexity import complexity

if TYPE_CHECKING:
    from cheatsheet.llm.model import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Parts of an engine that are objects and functions, and so have no setting.

    Attributes:
        mode, model, embedder, counter: in place of those that settings name.
        make_model: makes the models that settings name, in place of `parts.build_model`.
        generator: answers in place of a model; none is made then.
        hooks: applied in turn to everything that wants to be a new bullet.
        acronyms: words and their short forms, for the setting `compress`.
        outside: brings knowledge from outside from time to time.
        estimate: says how complex a question is, for the mode `auto`.
        progress: told how many texts are embedded when many have to be.
        clock: by which turns and changes are dated.
        timer: by which turns are timed.
    """

    mode: MemoryMode | None = None
    model: Model | None = None
    embedder: Embedder | None = None
    counter: TokenCounter | None = None
    make_model: ModelMaker | None = None
    generator: Generator | None = None
    hooks: tuple[DraftHook, ...] = ()
    acronyms: Mapping[str, str] = field(default_factory=dict)
    outside: Outside | None = None
    estimate: Estimate = complexity
    progress: Progress | None = None
    clock: Clock = utc_now
    timer: Timer = time.perf_counter


def open_memory(
    path: str | Path | None = None,
    *,
    mode: str | MemoryMode | None = None,
    model: str | Model | None = None,
    embedder: str | Embedder | None = None,
    hooks: Iterable[DraftHook] = (),
    acronyms: Mapping[str, str] | None = None,
    outside: Outside | None = None,
    estimate: Estimate = complexity,
    progress: Progress | None = None,
    **settings: Any,
) -> Engine:
    """Open a memory: a file that is made when it is not there, or `:memory:`; without a path, `memory.db` at home.

    The same file can be opened in any mode. What is not given here comes from the environment (`CHEATSHEET_TOP_K`),
    from the settings file (`cheatsheet.toml` or `cheatsheet.yaml`, here or in `~/.cheatsheet`), or has its default.

    Args:
        mode: `default`, `full-history`, `cumulative`, `retrieval`, `auto`, a published name of one, or a mode of your
            own.
        model: a LiteLLM name such as `openai/gpt-4o-mini`, `local/smollm2-135m`, or a `Model`. Without one the memory
            can recall and learn, but not answer.
        embedder: `auto`, `hashing`, `litellm:NAME`, a sentence-transformers name or folder, or an `Embedder`.
        hooks: applied in turn to everything that wants to be a new bullet (`cheatsheet/memory/incoming/hooks.py`).
        acronyms: words and their short forms, for the setting `compress`.
        outside: brings knowledge from outside from time to time.
        estimate: says how complex a question is, for the mode `auto`.
        progress: told how many texts are embedded when many have to be, as after a change of the embedder.
        settings: any other setting by its name (`cheatsheet settings` lists them).

    Raises:
        SettingsError, UnknownNameError: a setting that does not exist or is out of range.
        StoreError: the file is not a memory, is damaged, or cannot be written.
    """
    loaded = load_settings(
        path=str(path) if path is not None else None,
        mode=mode if isinstance(mode, str) else None,
        model=model if isinstance(model, str) else None,
        embedder=embedder if isinstance(embedder, str) else None,
        **settings,
    )
    given = Given(
        mode=None if isinstance(mode, str) else mode,
        model=None if isinstance(model, str) else model,
        embedder=None if isinstance(embedder, str) else embedder,
        hooks=tuple(hooks),
        acronyms=acronyms or {},
        outside=outside,
        estimate=estimate,
        progress=progress,
    )
    return build_engine(loaded, given)


def build_engine(settings: Settings, given: Given | None = None) -> Engine:
    """The engine that settings describe, with the parts that are given as objects."""
    given = given or Given()
    answerer = given.model
    if answerer is None and given.generator is None:
        make_model = given.make_model or parts.build_model
        answerer = make_model(settings, settings.model, settings.api_base)
    store = open_store(settings)
    cached = CachedEmbedder(given.embedder or parts.embedder_of(settings), store)
    return Engine(
        store=store,
        retriever=retriever_of(settings, store, cached, progress=given.progress),
        embedder=cached,
        mode=given.mode or parts.build_mode(settings, answerer, estimate=given.estimate, make_model=given.make_model),
        counter=given.counter or parts.build_counter(settings),
        generator=given.generator or parts.build_generator(settings, answerer),
        model_name=answerer.name if answerer else "",
        namespace=settings.namespace,
        options=parts.build_options(
            settings,
            answerer,
            make_model=given.make_model,
            hooks=given.hooks,
            acronyms=given.acronyms,
            outside=given.outside,
            timer=given.timer,
        ),
        clock=given.clock,
    )
