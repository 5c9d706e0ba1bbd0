"""The parts of an engine, each made from settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cheatsheet.engine.options import EngineOptions
from cheatsheet.errors import SettingsError
from cheatsheet.interfaces.counter import build_counter as build_counter
from cheatsheet.memory.evict import EvictPolicy
from cheatsheet.memory.experience import Query
from cheatsheet.memory.gate.guard_policy import GuardPolicy
from cheatsheet.memory.incoming.quarantine import QuarantinePolicy
from cheatsheet.memory.likeness.merger import Merger
from cheatsheet.memory.refine import RefinePolicy
from cheatsheet.memory.retriever import IndexFactory
from cheatsheet.mode import MemoryMode
from cheatsheet.roles.generator import ModelGenerator
from cheatsheet.roles.model_curator import ModelCurator
from cheatsheet.roles.model_merger import ModelMerger
from cheatsheet.roles.model_reflector import ModelReflector
from cheatsheet.roles.rewriting_curator import RewritingCurator
from cheatsheet.roles.role import Curator, Reflector
from cheatsheet.roles.rule_curator import RuleCurator
from cheatsheet.roles.rule_reflector import RuleReflector
from cheatsheet.roles.synthesiser import Synthesiser
from cheatsheet.settings import Settings
from indexes.embedder import Embedder
from modes.auto import Auto
from modes.complexity import complexity
from modes.cumulative import Cumulative
from modes.default import Default
from modes.full_history import FullHistory
from modes.names import mode_name
from modes.reflective import Learning
from modes.retrieval import Retrieval

if TYPE_CHECKING:
    from cheatsheet.llm.model import Model
    from cheatsheet.sandbox.sandbox import Sandbox

Estimate = Callable[[Query], float]
"""How complex a question is, for the mode `auto`."""

# No bullet with its id, and no question with its answer, takes fewer tokens than this, so that a mode need not read
# more of them than the budget divided by it.
_LEAST_TOKENS_SHOWN = 8


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
        cache=settings.model_cache,
        cache_folder=settings.home_folder / "replies",
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


def build_mode(settings: Settings, model: Model | None, *, estimate: Estimate = complexity) -> MemoryMode:
    """The mode that the settings name.

    Args:
        estimate: by which the mode `auto` chooses.
    """
    makers: Mapping[str, Callable[[], MemoryMode]] = {
        "default": Default,
        "full-history": lambda: FullHistory(limit=_most_shown(settings)),
        "cumulative": lambda: _cumulative(settings, model),
        "retrieval": lambda: _retrieval(settings, model),
    }
    name = mode_name(settings.mode)
    if name != "auto":
        return makers[name]()
    return Auto(modes={known: make() for known, make in makers.items()}, estimate=estimate)


def _most_shown(settings: Settings) -> int:
    return max(1, settings.token_budget // _LEAST_TOKENS_SHOWN)


def _cumulative(settings: Settings, model: Model | None) -> Cumulative:
    if settings.curation == "delta":
        learning = _learning(settings, model, remember=False)
    else:
        writer = _role_model(settings, model, settings.curator_model, settings.curator_api_base)
        curator = RewritingCurator(_needed(writer, "curation='rewrite'"), max_tokens=2 * settings.max_tokens)
        # The published way asks no Reflector: the curator reads question and answer itself.
        reflector = _reflector(settings, model) if settings.reflector == "model" else RuleReflector()
        learning = Learning(reflector=reflector, curator=curator, remember=False)
    return Cumulative(learning=learning, limit=_most_shown(settings))


def _retrieval(settings: Settings, model: Model | None) -> Retrieval:
    synthesiser = None
    if settings.synthesis:
        writer = _role_model(settings, model, settings.curator_model, settings.curator_api_base)
        synthesiser = Synthesiser(_needed(writer, "synthesis=True"), max_tokens=2 * settings.max_tokens)
    return Retrieval(
        learning=_learning(settings, model, remember=True),
        top_k=settings.top_k,
        min_score=settings.similarity_threshold,
        synthesiser=synthesiser,
    )


def _learning(settings: Settings, model: Model | None, *, remember: bool) -> Learning:
    reflector = _reflector(settings, model)
    # Rules would say the same again: only a model's reflection can grow with a further answer.
    depth = settings.reflection_depth if isinstance(reflector, ModelReflector) else 1
    return Learning(reflector=reflector, curator=_curator(settings, model), depth=depth, remember=remember)


def _needed(model: Model | None, what: str) -> Model:
    if model is None:
        raise SettingsError(f"{what} needs a model. Set model or curator_model.")
    return model


def index_class(settings: Settings) -> IndexFactory:
    """What makes an empty index, by the settings."""
    if settings.index == "exact":
        from indexes.exact import ExactIndex

        return ExactIndex
    from indexes.faiss_flat import FaissFlatIndex

    return FaissFlatIndex


def build_generator(settings: Settings, model: Model | None) -> ModelGenerator | None:
    """The Generator that the settings describe; None without a model."""
    if model is None:
        return None
    return ModelGenerator(
        model,
        style=settings.examples,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        scaffold=settings.scaffold,
        sandbox=_sandbox(settings),
        run_code=settings.run_code,
        code_rounds=settings.code_rounds,
        earlier_room=settings.answer_rounds - 1,
    )


def _sandbox(settings: Settings) -> Sandbox | None:
    if settings.run_code == "off":
        return None
    from cheatsheet.sandbox.sandbox import SandboxLimits
    from cheatsheet.sandbox.subprocess_sandbox import SubprocessSandbox

    limits = SandboxLimits(timeout_s=settings.code_timeout_s, memory_mib=settings.code_memory_mib)
    return SubprocessSandbox(limits, isolation=settings.code_isolation)


def _merger(settings: Settings, model: Model | None) -> Merger | None:
    if settings.merger == "rules":
        return None
    writer = _role_model(settings, model, settings.curator_model, settings.curator_api_base)
    return ModelMerger(_needed(writer, "merger='model'"))


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


def build_options(settings: Settings, model: Model | None, **given: Any) -> EngineOptions:
    """The numbers and functions of an engine; `given` are those that settings cannot name."""
    return EngineOptions(
        token_budget=settings.token_budget,
        overflow=settings.overflow,
        order=settings.order,
        grow_threshold=settings.grow_threshold,
        refine=RefinePolicy(
            trigger=settings.refine,
            max_bullets=settings.max_bullets,
            max_sheet_tokens=settings.max_sheet_tokens,
            helpful_weight=settings.helpful_weight,
            harmful_weight=settings.harmful_weight,
            harmful_votes=settings.harmful_votes,
            half_life=None if settings.half_life_days is None else timedelta(days=settings.half_life_days),
        ),
        merger=_merger(settings, model),
        guard=GuardPolicy(left_out=settings.left_out, max_loss=settings.max_loss, max_erosion=settings.max_erosion),
        quarantine=QuarantinePolicy(untrusted=settings.untrusted, on_signs=settings.quarantine_signs),
        mask_secrets=settings.mask_secrets,
        secrets=(settings.api_key,) if settings.api_key else (),
        evict=EvictPolicy(max_experiences=settings.max_experiences),
        compress=settings.compress,
        answer_rounds=settings.answer_rounds,
        recall_cache=settings.recall_cache,
        context_window=model.capabilities.context_window if model else settings.context_window,
        answer_tokens=settings.max_tokens,
        **given,
    )
