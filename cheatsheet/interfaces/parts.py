"""The parts of an engine, each made from settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cheatsheet.engine.options import EngineOptions
from cheatsheet.interfaces.counter import build_counter as build_counter
from cheatsheet.interfaces.embedders import embedder_of as embedder_of
from cheatsheet.interfaces.role_models import ModelMaker, RoleModels, by_model
from cheatsheet.memory.evict import EvictPolicy
from cheatsheet.memory.experience import Query
from cheatsheet.memory.gate.guard_policy import GuardPolicy
from cheatsheet.memory.incoming.quarantine import QuarantinePolicy
from cheatsheet.memory.likeness.merger import Merger
from cheatsheet.memory.refine import RefinePolicy
from cheatsheet.mode import MemoryMode
from cheatsheet.roles.rule_curator import RuleCurator
from cheatsheet.roles.rule_reflector import RuleReflector
from cheatsheet.settings import Settings
from modes.auto import Auto
from modes.complexity import complexity
from modes.cumulative import Cumulative
from modes.default import Default
from modes.full_history import FullHistory
from modes.names import mode_name
from modes.reflective import Learning
from modes.retrieval import Retrieval

# Roles that models play are imported where there is one: most recalls are of a memory without.
if TYPE_CHECKING:
    from cheatsheet.llm.model import Model
    from cheatsheet.roles.generator import ModelGenerator
    from cheatsheet.roles.role import Curator, Reflector
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


def build_mode(
    settings: Settings, model: Model | None, *, estimate: Estimate = complexity, make_model: ModelMaker | None = None
) -> MemoryMode:
    """The mode that the settings name.

    Args:
        model: answers.
        estimate: by which the mode `auto` chooses.
        make_model: makes the models that play a role of their own, in place of `build_model`.
    """
    models = RoleModels(settings, model, make_model or build_model)
    makers: Mapping[str, Callable[[], MemoryMode]] = {
        "default": Default,
        "full-history": lambda: FullHistory(limit=_most_shown(settings)),
        "cumulative": lambda: _cumulative(settings, models),
        "retrieval": lambda: _retrieval(settings, models),
    }
    name = mode_name(settings.mode)
    if name != "auto":
        return makers[name]()
    return Auto(modes={known: make() for known, make in makers.items()}, estimate=estimate)


def _most_shown(settings: Settings) -> int:
    return max(1, settings.token_budget // _LEAST_TOKENS_SHOWN)


def _cumulative(settings: Settings, models: RoleModels) -> Cumulative:
    if settings.curation == "delta":
        learning = _learning(settings, models, remember=False)
    else:
        learning = _rewriting(settings, models)
    return Cumulative(learning=learning, limit=_most_shown(settings))


def _rewriting(settings: Settings, models: RoleModels) -> Learning:
    from cheatsheet.roles.rewriting_curator import RewritingCurator

    curator = RewritingCurator(models.writer("curation='rewrite'"), max_tokens=2 * settings.max_tokens)
    # The published way asks no Reflector: the curator reads question and answer itself.
    reflecting = _reflecting_model(settings, models) if settings.reflector == "model" else None
    return Learning(reflector=_reflector(reflecting), curator=curator, remember=False)


def _retrieval(settings: Settings, models: RoleModels) -> Retrieval:
    synthesiser = None
    if settings.synthesis:
        from cheatsheet.roles.synthesiser import Synthesiser

        synthesiser = Synthesiser(models.writer("synthesis=True"), max_tokens=2 * settings.max_tokens)
    return Retrieval(
        learning=_learning(settings, models, remember=True),
        top_k=settings.top_k,
        min_score=settings.similarity_threshold,
        synthesiser=synthesiser,
    )


def _learning(settings: Settings, models: RoleModels, *, remember: bool) -> Learning:
    reflecting = _reflecting_model(settings, models)
    # Rules would say the same again: only a model's reflection can grow with a further answer.
    depth = settings.reflection_depth if reflecting else 1
    return Learning(
        reflector=_reflector(reflecting), curator=_curator(settings, models), depth=depth, remember=remember
    )


def build_generator(settings: Settings, model: Model | None) -> ModelGenerator | None:
    """The Generator that the settings describe; None without a model."""
    if model is None:
        return None
    from cheatsheet.roles.generator import ModelGenerator

    return ModelGenerator(
        model,
        style=settings.examples,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        scaffold=settings.scaffold,
        instructions=settings.instructions,
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


def _merger(settings: Settings, models: RoleModels) -> Merger | None:
    if settings.merger == "rules":
        return None
    from cheatsheet.roles.model_merger import ModelMerger

    return ModelMerger(models.writer("merger='model'"))


def _reflecting_model(settings: Settings, models: RoleModels) -> Model | None:
    return by_model("reflector", settings.reflector, models.reflector())


def _reflector(model: Model | None) -> Reflector:
    if model is None:
        return RuleReflector()
    from cheatsheet.roles.model_reflector import ModelReflector

    return ModelReflector(model)


def _curator(settings: Settings, models: RoleModels) -> Curator:
    model = by_model("curator", settings.curator, models.curator())
    if model is None:
        return RuleCurator()
    from cheatsheet.roles.model_curator import ModelCurator

    return ModelCurator(model)


def build_options(
    settings: Settings, model: Model | None, *, make_model: ModelMaker | None = None, **given: Any
) -> EngineOptions:
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
        merger=_merger(settings, RoleModels(settings, model, make_model or build_model)),
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
