"""From a name to a model."""

from __future__ import annotations

import pytest

from cheatsheet.errors import SetupError
from cheatsheet.llm.litellm_model import LiteLLMModel
from cheatsheet.llm.registry import make_model
from cheatsheet.llm.scripted import ScriptedModel


def test_a_name_becomes_a_model_with_its_options() -> None:
    model = make_model(" openai/gpt-4o-mini ", context_window=99, retries=0)
    assert isinstance(model, LiteLLMModel)
    assert model.name == "openai/gpt-4o-mini"
    assert model.capabilities.context_window == 99


def test_a_model_passes_through() -> None:
    model = ScriptedModel([])
    assert make_model(model) is model
    with pytest.raises(SetupError, match="retries"):
        make_model(model, retries=0)


@pytest.mark.parametrize("name", [None, "", "  "])
def test_no_name_says_which_are_possible(name: str | None) -> None:
    with pytest.raises(SetupError, match=r"openai/gpt-4o-mini.*local/smollm2-135m"):
        make_model(name)
