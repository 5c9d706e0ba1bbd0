"""Which model plays which role of an engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cheatsheet.errors import SettingsError
from cheatsheet.llm.model import Model
from cheatsheet.settings import Settings

ModelMaker = Callable[[Settings, str | None, str | None], Model | None]
"""Makes the model of a name at an address, with the settings for calls; None without a name."""


@dataclass(frozen=True, slots=True)
class RoleModels:
    """The models of an engine.

    Attributes:
        answering: answers, and plays each role that was given no other model.
        make: makes the others.
    """

    settings: Settings
    answering: Model | None
    make: ModelMaker

    def reflector(self) -> Model | None:
        """Reflects on answers."""
        return self._of_role(self.settings.reflector_model, self.settings.reflector_api_base)

    def curator(self) -> Model | None:
        """Curates, and writes whatever else goes into the memory or is made of it."""
        return self._of_role(self.settings.curator_model, self.settings.curator_api_base)

    def writer(self, what: str) -> Model:
        """The curator, where there has to be one.

        Raises:
            SettingsError: there is none; names `what` needs it.
        """
        model = self.curator()
        if model is None:
            raise SettingsError(f"{what} needs a model. Set model or curator_model.")
        return model

    def _of_role(self, name: str | None, api_base: str | None) -> Model | None:
        """The model that a role was given. The answering model's key goes to no other place."""
        if name is None and api_base is None:
            return self.answering
        elsewhere = self.settings.model_copy(update={"api_key": None, "context_window": None})
        return self.make(elsewhere, name or self.settings.model, api_base)


def by_model(role: str, setting: str, model: Model | None) -> Model | None:
    """The model that plays a role, or None where the rules do.

    `auto` leaves the role to the rules where the model is one that continues texts better than it follows
    instructions: such models rarely write JSON that can be read.

    Raises:
        SettingsError: a model is to play the role, and there is none.
    """
    if setting == "model" and model is None:
        raise SettingsError(f"{role}='model' needs a model. Set model or {role}_model, or use {role}='rules'.")
    if setting == "rules" or model is None:
        return None
    return None if setting == "auto" and model.capabilities.prefers_continuation else model
