"""Where everything meets: settings become an engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cheatsheet.engine.engine import Engine
from cheatsheet.engine.options import EngineOptions
from cheatsheet.errors import SettingsError
from cheatsheet.memory.apply import Limits
from cheatsheet.memory.refine import RefinePolicy
from cheatsheet.memory.retriever import Progress, Retriever
from cheatsheet.memory.sqlite_store import SqliteStore
from cheatsheet.mode import MemoryMode
from cheatsheet.roles.generator import ModelGenerator
from cheatsheet.roles.model_curator import ModelCurator
from cheatsheet.roles.model_reflector import ModelReflector
from cheatsheet.roles.role import Curator, Reflector
from cheatsheet.roles.rule_curator import RuleCurator
from cheatsheet.roles.rule_reflector import RuleReflector
from cheatsheet.settings import Settings, load_settings
from cheatsheet.tokens import TokenCounter, make_counter
from indexes.cached import CachedEmbedder
from indexes.embedder import Embedder
from modes.cumulative import Cumulative
from modes.default import Default
from modes.full_history import FullHistory
from modes.names import mode_name
from modes.retrieval import Retrieval

if TYPE_CHECKING:
    from cheatsheet.llm.model import Model

# No bullet with its id, and no question with its answer, takes fewer tokens than this, so that a mode need not read
# more of them than the budget divided by it.
_LEAST_TOKENS_SHOWN = 8


def open_memory(
    path: str | Path | None = None,
    *,
    mode: str | MemoryMode | None = None,
    model: str | Model | None = None,
    embedder: str | Embedder | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Engine:
    """Open a memory: a file that is made when it is not there, or `:memory:`; without a path, `memory.db` at home.

    The same file can be opened in any mode. What is not given here comes from the environment (`CHEATSHEET_TOP_K`),
    from the settings file (`cheatsheet.toml` or `cheatsheet.yaml`, here or in `~/.cheatsheet`), or has its default.

    Args:
        mode: `default`, `full-history`, `cumulative`, `retrieval`, a published name of one, or a mode of your own.
        model: a LiteLLM name such as `openai/gpt-4o-mini`, `local/smollm2-135m`, or a `Model`. Without one the memory
            can recall and learn, but not answer.
        embedder: `auto`, `hashing`, `litellm:NAME`, a sentence-transformers name or folder, or an `Embedder`.
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
    return build_engine(
        loaded,
        mode=None if isinstance(mode, str) else mode,
        model=None if isinstance(model, str) else model,
        embedder=None if isinstance(embedder, str) else embedder,
        progress=progress,
    )


def build_engine(
    settings: Settings,
    *,
    mode: MemoryMode | None = None,
    model: Model | None = None,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
) -> Engine:
    """The engine that settings describe; parts that are given as objects take the place of those that are named."""
    answerer = model or build_model(settings, settings.model, settings.api_base)
    store = SqliteStore(
        settings.memory_path,
        limits=Limits(max_bullet_chars=settings.max_bullet_chars),
        synchronous=settings.synchronous,
        busy_timeout_s=settings.busy_timeout_s,
    )
    cached = CachedEmbedder(embedder or build_embedder(settings.embedder), store)
    retriever = Retriever(
        store, cached, namespace=settings.namespace, make_index=_index_class(settings), progress=progress
    )
    return Engine(
        store=store,
        retriever=retriever,
        embedder=cached,
        mode=mode or build_mode(settings, answerer),
        counter=build_counter(settings),
        generator=_generator(settings, answerer),
        model_name=answerer.name if answerer else "",
        namespace=settings.namespace,
        options=_options(settings, answerer),
    )


def build_model(settings: Settings, name: str | None, api_base: str | None) -> Model | None:
    """The model of that name with the settings for calls; None without a name."""
    if name is None:
        return None
    from cheatsheet.llm.registry import make_model

    return make_model(
        name,
        api_base=api_base,
        api_key=settings.api_key,
        timeout_s=settings.timeout_s,
        retries=settings.retries,
        fallbacks=settings.fallbacks,
        context_window=settings.context_window,
    )


def build_embedder(name: str) -> Embedder:
    """The embedder of that name; nothing is loaded before the first text."""
    if name == "hashing":
        from indexes.hashing import HashingEmbedder

        return HashingEmbedder()
    if name.startswith("litellm:"):
        from indexes.litellm_embedder import LiteLLMEmbedder

        return LiteLLMEmbedder(name.removeprefix("litellm:"))
    if not name:
        raise SettingsError("embedder is empty. Use 'auto', 'hashing', 'litellm:NAME', or a name or folder of a model.")
    from indexes.sentence_transformer import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder() if name == "auto" else SentenceTransformerEmbedder(name)


def build_mode(settings: Settings, model: Model | None) -> MemoryMode:
    """The mode that the settings name."""
    limit = max(1, settings.token_budget // _LEAST_TOKENS_SHOWN)
    name = mode_name(settings.mode)
    if name == "default":
        return Default()
    if name == "full-history":
        return FullHistory(limit=limit)
    reflector, curator = _reflector(settings, model), _curator(settings, model)
    if name == "cumulative":
        return Cumulative(reflector=reflector, curator=curator, limit=limit)
    return Retrieval(
        reflector=reflector, curator=curator, top_k=settings.top_k, min_score=settings.similarity_threshold
    )


def build_counter(settings: Settings) -> TokenCounter:
    """The token counter that the settings name; `auto` is that of the model."""
    name = settings.model or ""
    if settings.counter == "auto" and name.startswith("local/"):
        from cheatsheet.llm.local_provider import resolve_gguf

        return make_counter("auto", model=name, gguf=resolve_gguf(name))
    return make_counter(settings.counter, model=name)


def _index_class(settings: Settings) -> Any:
    if settings.index == "exact":
        from indexes.exact import ExactIndex

        return ExactIndex
    from indexes.faiss_flat import FaissFlatIndex

    return FaissFlatIndex


def _generator(settings: Settings, model: Model | None) -> ModelGenerator | None:
    if model is None:
        return None
    return ModelGenerator(
        model, style=settings.examples, max_tokens=settings.max_tokens, temperature=settings.temperature
    )


def _reflector(settings: Settings, model: Model | None) -> Reflector:
    chosen = _role_model(settings, model, settings.reflector_model, settings.reflector_api_base)
    by_model = _by_model("reflector", settings.reflector, chosen)
    return ModelReflector(by_model) if by_model else RuleReflector()


def _curator(settings: Settings, model: Model | None) -> Curator:
    chosen = _role_model(settings, model, settings.curator_model, settings.curator_api_base)
    by_model = _by_model("curator", settings.curator, chosen)
    return ModelCurator(by_model) if by_model else RuleCurator()


def _role_model(settings: Settings, model: Model | None, name: str | None, api_base: str | None) -> Model | None:
    """The model that a role was given, or else the answering one. The answering model's key goes to no other place."""
    if name is None and api_base is None:
        return model
    elsewhere = settings.model_copy(update={"api_key": None, "context_window": None})
    return build_model(elsewhere, name or settings.model, api_base)


def _by_model(role: str, setting: str, model: Model | None) -> Model | None:
    """The model that plays a role, or None where the rules do.

    `auto` leaves the role to the rules where the model is one that continues texts better than it follows
    instructions: such models rarely write JSON that can be read.
    """
    if setting == "model" and model is None:
        raise SettingsError(f"{role}='model' needs a model. Set model or {role}_model, or use {role}='rules'.")
    if setting == "rules" or model is None:
        return None
    return None if setting == "auto" and model.capabilities.prefers_continuation else model


def _options(settings: Settings, model: Model | None) -> EngineOptions:
    return EngineOptions(
        token_budget=settings.token_budget,
        overflow=settings.overflow,
        grow_threshold=settings.grow_threshold,
        refine=RefinePolicy(
            trigger=settings.refine,
            max_bullets=settings.max_bullets,
            max_sheet_tokens=settings.max_sheet_tokens,
            harmful_weight=settings.harmful_weight,
            harmful_votes=settings.harmful_votes,
        ),
        context_window=model.capabilities.context_window if model else settings.context_window,
        answer_tokens=settings.max_tokens,
    )
