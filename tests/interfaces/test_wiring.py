"""Settings become the parts that they name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cheatsheet
from cheatsheet.engine.engine import Engine
from cheatsheet.errors import SettingsError
from cheatsheet.interfaces import parts
from cheatsheet.interfaces.embedders import build_embedder
from cheatsheet.interfaces.stores import index_class
from cheatsheet.interfaces.wiring import Given, build_engine
from cheatsheet.llm.litellm_model import LiteLLMModel
from cheatsheet.llm.model import Capabilities
from cheatsheet.llm.scripted import ScriptedModel
from cheatsheet.memory.experience import Query
from cheatsheet.memory.view import MemoryView
from cheatsheet.mode import Learned, Recalled
from cheatsheet.roles.model_curator import ModelCurator
from cheatsheet.roles.model_reflector import ModelReflector
from cheatsheet.roles.role import Attempt
from cheatsheet.roles.rule_reflector import RuleReflector
from cheatsheet.settings import load_settings
from indexes.exact import ExactIndex
from indexes.faiss_flat import FaissFlatIndex
from indexes.hashing import HashingEmbedder
from indexes.litellm_embedder import LiteLLMEmbedder
from indexes.sentence_transformer import SentenceTransformerEmbedder
from modes.cumulative import Cumulative
from modes.retrieval import Retrieval


def mode_of(engine: Engine) -> Any:
    return engine.mode


def test_without_a_path_the_memory_is_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHEATSHEET_HOME", str(tmp_path / "home"))
    with cheatsheet.open(embedder="hashing") as memory:
        memory.learn("q", "a", feedback=True)
    file = tmp_path / "home" / "memory.db"
    assert file.exists()
    assert file.stat().st_mode & 0o077 == 0
    assert file.parent.stat().st_mode & 0o077 == 0


def test_opening_loads_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key is asked for, and a model loaded, when it is needed."""
    with cheatsheet.open(":memory:", model="openai/gpt-4o-mini", embedder="hashing") as memory:
        assert memory.model_name == "openai/gpt-4o-mini"
        assert memory.recall("q").text == ""


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("hashing", HashingEmbedder),
        ("auto", SentenceTransformerEmbedder),
        ("litellm:openai/text-embedding-3-small", LiteLLMEmbedder),
    ],
)
def test_embedders_by_name(name: str, kind: type) -> None:
    assert isinstance(build_embedder(name), kind)


def test_an_empty_embedder_is_refused() -> None:
    with pytest.raises(SettingsError, match="embedder is empty"):
        build_embedder("")


def test_indexes_by_name() -> None:
    assert index_class(load_settings(index="exact")) is ExactIndex
    assert index_class(load_settings(index="faiss")) is FaissFlatIndex


def test_a_capable_model_reflects_and_curates_a_small_one_leaves_it_to_the_rules() -> None:
    large = ScriptedModel([], capabilities=Capabilities(json_schema=True))
    small = ScriptedModel([], capabilities=Capabilities(continuation=True, prefers_continuation=True))
    with cheatsheet.open(":memory:", model=large, embedder="hashing") as memory:
        assert isinstance(mode_of(memory).learning.reflector, ModelReflector)
        assert isinstance(mode_of(memory).learning.curator, ModelCurator)
    with cheatsheet.open(":memory:", model=small, embedder="hashing") as memory:
        assert isinstance(mode_of(memory).learning.reflector, RuleReflector)
    with cheatsheet.open(":memory:", model=small, embedder="hashing", reflector="model") as memory:
        assert isinstance(mode_of(memory).learning.reflector, ModelReflector)
    with pytest.raises(SettingsError, match="reflector='model' needs a model"):
        cheatsheet.open(":memory:", embedder="hashing", reflector="model")


def test_each_role_can_have_a_model_and_an_address_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str | None, str | None, str | None]] = []

    def build(settings: Any, name: str | None, api_base: str | None) -> ScriptedModel | None:
        asked.append((name, api_base, settings.api_key))
        return None if name is None else ScriptedModel([], name=name)

    monkeypatch.setattr(parts, "build_model", build)
    settings: dict[str, Any] = {"reflector_model": "b", "curator_api_base": "http://curator", "api_key": "secret"}
    with cheatsheet.open(":memory:", model="a", embedder="hashing", **settings) as memory:
        assert mode_of(memory).learning.reflector.model.name == "b"
        assert mode_of(memory).learning.curator.model.name == "a"
    assert asked == [("a", None, "secret"), ("b", None, None), ("a", "http://curator", None)]


def test_modes_get_their_settings() -> None:
    with cheatsheet.open(":memory:", embedder="hashing", top_k=2, similarity_threshold=0.25) as memory:
        mode = mode_of(memory)
        assert isinstance(mode, Retrieval)
        assert (mode.top_k, mode.min_score) == (2, 0.25)
    with cheatsheet.open(":memory:", embedder="hashing", mode="ace", token_budget=800) as memory:
        mode = mode_of(memory)
        assert isinstance(mode, Cumulative)
        assert mode.limit == 100


def test_a_mode_of_one_s_own() -> None:
    class Parrot:
        name = "parrot"

        def recall(self, query: Query, memory: MemoryView) -> Recalled:
            return Recalled(notes=("nothing to show",))

        def learn(self, attempt: Attempt, memory: MemoryView) -> Learned:
            return Learned(remember=True)

    with cheatsheet.open(":memory:", mode=Parrot(), embedder="hashing") as memory:
        assert memory.recall("q").notes == ("nothing to show",)
        assert memory.learn("q", "a").experience_id == "exp-00001"


def test_a_named_model_is_routed_by_litellm() -> None:
    model = parts.build_model(load_settings(), "openai/gpt-4o-mini", None)
    assert isinstance(model, LiteLLMModel)


def test_instructions_stand_first_in_every_prompt() -> None:
    model = ScriptedModel(["amber"])
    settings = load_settings(
        path=":memory:", embedder="hashing", instructions="Name the team.", reflector="rules", curator="rules"
    )
    with build_engine(settings, Given(model=model)) as memory:
        memory.solve("My card was charged twice", expected="amber")
    assert model.requests[0].messages[0]["content"].startswith("Name the team.")
