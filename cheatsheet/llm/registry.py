"""From a name in a settings file to a model."""

from __future__ import annotations

from typing import Any

from cheatsheet.errors import SetupError
from cheatsheet.llm.litellm_model import LiteLLMModel
from cheatsheet.llm.model import Model


def make_model(model: str | Model | None, **options: Any) -> Model:
    """A model from its LiteLLM name; a model object is returned as it is.

    Args:
        model: a name such as `openai/gpt-4o-mini` or `local/smollm2-135m`, or any object that is a `Model`.
        options: as for `LiteLLMModel`; only with a name.

    Raises:
        SetupError: no name, or options beside a model object.
    """
    if model is None or (isinstance(model, str) and not model.strip()):
        raise SetupError(
            "No model is named. Give a LiteLLM name such as openai/gpt-4o-mini, anthropic/claude-sonnet-4-5 or "
            "ollama/llama3.2, or local/smollm2-135m for the embedded one, which needs no key."
        )
    if isinstance(model, str):
        return LiteLLMModel(model.strip(), **options)
    if options:
        raise SetupError(
            f"The options {', '.join(sorted(options))} belong to a model's name; {model.name} is made already."
        )
    return model
