"""The arms of an evaluation: what `--modes` names, and the memory that is opened for each.

A command makes its arms by `arm_of`, hands an `ArmOpener` to the run as its `OpenMemory`, and lets `opener.check(arms)`
run before anything is written or asked. An opener can be pickled: it holds settings and makes models where it is
called, once per process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from cheatsheet.errors import SetupError, UnknownNameError
from cheatsheet.evaluation.controls.base import Control, Ground
from cheatsheet.evaluation.controls.registry import CONTROLS
from cheatsheet.evaluation.runs.spec import ArmSpec
from cheatsheet.interfaces import embedders, parts
from cheatsheet.interfaces.calls import CallPlan, memory_on_record, on_record
from cheatsheet.interfaces.wiring import Given, build_engine
from cheatsheet.settings import Settings, load_settings
from modes.names import MODES, Variant, variant

if TYPE_CHECKING:
    from cheatsheet.engine.engine import Engine
    from cheatsheet.evaluation.runs.protocol import Memory
    from cheatsheet.llm.model import Model
    from cheatsheet.mode import BatchMode
    from indexes.embedder import Embedder

ARM_NAMES: Final = (*MODES, *CONTROLS)

# What a control wraps: it differs from this mode in one thing.
_BASE_MODE: Final = "retrieval"

# Of the whole run, or secret: what an arm sets stands in `run.json`.
_NOT_OF_AN_ARM: Final = ("home", "config", "path", "mode", "api_key")

# All that a model depends on (`parts.build_model`).
_OF_A_MODEL: Final = (
    "model",
    "api_base",
    "api_key",
    "timeout_s",
    "retries",
    "fallbacks",
    "context_window",
    "model_cache",
    "home",
)

# Made once per process: loading one can take seconds, and a run opens a memory for every arm.
_MODELS: Final[dict[tuple[object, ...], Model | None]] = {}
_EMBEDDERS: Final[dict[tuple[object, ...], Embedder]] = {}


def arm_of(text: str) -> ArmSpec:
    """An arm by its mode or control and what is set for it alone: `retrieval`, `DC-RS`, `placebo+top_k=3`.

    Raises:
        UnknownNameError: neither a mode, ours or a published one, nor a control; the nearest of both is suggested.
        SettingsError: a setting that does not exist or is out of range.
        SetupError: what follows a `+` is no setting, or is one that an arm cannot have of its own.
    """
    name, *pairs = (part.strip() for part in text.split("+"))
    meant = _meant(name)
    own = dict(_pair(pair, text) for pair in pairs)
    _check_own(own, meant, text)
    settings = load_settings(**{"mode": _mode_of_settings(meant.mode), **meant.settings, **own})
    told = {setting: getattr(settings, setting) for setting in (*meant.settings, *own)}
    shown = name if meant.settings and meant.mode not in CONTROLS else meant.mode
    return ArmSpec(mode=meant.mode, name=_safe_name(shown, own), settings=told)


def _safe_name(shown: str, own: Mapping[str, str]) -> str:
    """The name as that of a folder: `DC-∅` is `DC-empty` there, which is one of its published names as well."""
    label = "+".join([shown.replace("∅", "empty"), *(f"{setting}-{value}" for setting, value in own.items())])
    return re.sub(r"[^A-Za-z0-9._+-]", "_", label).lstrip("._+-")


def _meant(name: str) -> Variant:
    """The mode or the control, and the settings that its name stands for."""
    control = CONTROLS.get(name.casefold())
    if control is not None:
        return Variant(control.name, control.settings)
    try:
        return variant(name)
    except UnknownNameError:
        raise UnknownNameError("mode", name, ARM_NAMES) from None


def _mode_of_settings(mode: str) -> str:
    return _BASE_MODE if mode in CONTROLS else mode


def _pair(text: str, arm: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise SetupError(f"{arm!r} in --modes: after each + comes a setting, such as retrieval+top_k=3.")
    return name.strip().replace("-", "_"), value.strip()


def _check_own(own: Iterable[str], meant: Variant, arm: str) -> None:
    for setting in own:
        if setting in _NOT_OF_AN_ARM:
            raise SetupError(f"{arm!r} in --modes: {setting} is of the whole run. Set it outside --modes.")
        if meant.mode in CONTROLS and setting in meant.settings:
            raise SetupError(f"{arm!r} in --modes: {setting} belongs to what this control is. Leave it out.")


def needed_model(settings: Settings, command: str) -> Model:
    """The model of the settings, made once per process.

    Raises:
        SetupError: there is none, and the command needs one.
    """
    # The maker is part of the key: with another maker, another thing is made.
    key = (parts.build_model, *(repr(getattr(settings, name)) for name in _OF_A_MODEL))
    if key not in _MODELS:
        _MODELS[key] = parts.build_model(settings, settings.model, settings.api_base)
    model = _MODELS[key]
    if model is None:
        raise SetupError(
            f"{command} needs a model: --model openai/gpt-4o-mini, --model local/smollm2-135m, or the setting model."
        )
    return model


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmOpener:
    """Opens the memory of an arm; an `OpenMemory` that can be sent to another process.

    Attributes:
        settings: of the run; an arm's own go before them.
        seed: of the order of the questions, so that controls that draw by chance draw anew in every repetition.
        calls: whether calls of models are recorded or replayed.
    """

    settings: Settings
    seed: int = 0
    calls: CallPlan = field(default_factory=CallPlan)

    def __call__(self, arm: ArmSpec, path: Path) -> Memory:
        """The memory of an arm in the file given.

        Raises:
            SetupError: the arm asks a model, and there is none; or there is no recording of it to replay.
            StoreError: the file is not a memory, or cannot be written.
        """
        own = self._own(arm, path)
        model = partial(self._asked, arm) if asks_a_model(arm) else None
        recording = self.calls.recording(path)
        if recording is None:
            answering = None if model is None else model()
            return self._engine(arm, own, Given(model=answering, embedder=_embedder(own)))
        given = on_record(recording, own, model=model, embedder=partial(_embedder, own))
        return memory_on_record(self._engine(arm, own, given), recording, path)

    def check(self, arms: Iterable[ArmSpec]) -> None:
        """Make sure, without a call, that whatever the arms will ask can be asked; a replay asks nobody.

        Raises:
            SetupError: an arm asks a model, and there is none; or its packages or its file are missing.
            ModelAuthError: there is no key for it.
        """
        if not self.calls.asks:
            return
        models = {id(model): model for model in map(self._asked, filter(asks_a_model, arms))}
        for model in models.values():
            if (check := getattr(model, "check", None)) is not None:
                check()

    def _own(self, arm: ArmSpec, path: Path) -> Settings:
        """The run's settings with the arm's own, which were checked when the arm was named."""
        control = CONTROLS.get(arm.mode)
        fixed = control.settings if control is not None else {}
        update = {"mode": _mode_of_settings(arm.mode), "path": str(path), **fixed, **arm.settings}
        return self.settings.model_copy(update=update)

    def _engine(self, arm: ArmSpec, own: Settings, given: Given) -> Engine:
        control = CONTROLS.get(arm.mode)
        if control is None:
            return build_engine(own, given)
        generator = None if control.generator is None else control.generator()
        return build_engine(
            own, replace(given, mode=_control_mode(control, own, given, self.seed), generator=generator)
        )

    def _asked(self, arm: ArmSpec) -> Model:
        return needed_model(self._own(arm, Path()), "eval")


def asks_a_model(arm: ArmSpec) -> bool:
    """Whether the questions of the arm go to a model."""
    control = CONTROLS.get(arm.mode)
    return control is None or control.asks


def _control_mode(control: Control, own: Settings, given: Given, seed: int) -> BatchMode:
    mode = parts.build_mode(own, given.model, make_model=given.make_model)
    retrieval = cast("BatchMode", mode)  # retrieval learns batches
    return control.make(Ground(retrieval=retrieval, counter=given.counter or parts.build_counter(own), seed=seed))


def _embedder(settings: Settings) -> Embedder:
    """The embedder of the settings, made once per process."""
    key = (embedders.build_embedder, settings.embedder, settings.embedder_threads, settings.home_folder)
    if key not in _EMBEDDERS:
        _EMBEDDERS[key] = embedders.embedder_of(settings)
    return _EMBEDDERS[key]
