"""Settings: from arguments, the environment and a file, in this order of precedence.

Every setting has one name everywhere: `top_k` as an argument and in the file, `CHEATSHEET_TOP_K` in the environment,
`--top-k` on the command line. Read at the door by the interfaces only; the core takes values.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from cheatsheet.errors import SettingsError, nearest_name
from modes.names import variant

ENV_PREFIX = "CHEATSHEET_"
FILE_NAMES = ("cheatsheet.toml", "cheatsheet.yaml", "cheatsheet.yml")

# A section of a practitioner's settings file that is understood as well, and what its names mean.
FOREIGN_SECTION = "ace_engine"
_FOREIGN_NAMES = {
    "max_context_size": "token_budget",
    "default_mode": "mode",
    "retrieval.top_k": "top_k",
    "retrieval.similarity_threshold": "similarity_threshold",
    "reflection.depth": "reflection_depth",
}

# The context engine whose budget variable is understood as well.
_FOREIGN_ENV = {"MINICLAW_TOKEN_BUDGET": "token_budget"}


class Settings(BaseSettings):
    """All settings, checked. Make one with `load_settings`, which turns mistakes into sentences."""

    # Building the validator is put off until settings are loaded: `--help` needs the names only.
    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, extra="forbid", frozen=True, env_ignore_empty=True, defer_build=True
    )

    # Where
    home: Path = Field(Path("~/.cheatsheet"), description="folder for the memory and the settings file of the user")
    config: Path | None = Field(None, description="settings file (TOML or YAML) instead of the ones looked for")
    path: str | None = Field(
        None, repr=False, description="memory file, `:memory:`, or `postgresql://…`; by default `memory.db` in `home`"
    )
    namespace: str = Field("default", pattern=r"^[\w.-]{1,64}$", description="one of several memories in one file")
    synchronous: Literal["full", "normal"] = Field(
        "full", description="`full`: what is learnt survives a loss of power; `normal`: the death of the process"
    )
    busy_timeout_s: float = Field(30.0, gt=0, description="seconds to wait for others that write")
    max_connections: int = Field(8, ge=2, description="most connections to a PostgreSQL server at once")

    # What is remembered, and how
    mode: str = Field(
        "retrieval", description="memory mode: `default`, `full-history`, `cumulative`, `retrieval`, `auto`"
    )
    curation: Literal["delta", "rewrite"] = Field(
        "delta",
        description="how `cumulative` learns: by small operations, or by a model that writes the cheatsheet anew",
    )
    synthesis: bool = Field(
        False,
        description="whether in `retrieval` a model first writes a cheatsheet for the question from what is found",
    )
    reflection_depth: int = Field(
        3, ge=1, description="most rounds of reflection while an answer is wrong, where the Reflector is a model"
    )
    top_k: int = Field(5, ge=1, description="bullets and experiences shown by the mode `retrieval`")
    # 0.0 to 0.20 show the same answers: 28 of 30 English questions, 117 of 120 tickets, 202 of 220 published questions;
    # from 0.25 on answers are lost. Above 0 little is saved, and other embedders have other scales (hashing: 0.16).
    # In Chinese the default model finds 5 of 16, and no threshold helps. `python -m benchmarks.calibrate`, 2026-12-01.
    similarity_threshold: float = Field(
        0.0, ge=-1, le=1, description="lowest cosine to the question of what the mode `retrieval` shows"
    )
    # The best by F0.5 is 0.89, one pair of 180 apart. At 0.90, 12 of 13 merges are right (95 %: 67 to 99 %); of 60
    # paraphrases 12 are merged, of 60 opposites none (at no threshold; by cosine alone 42), of 4,303 pairs that
    # published cheatsheets kept apart none. `python -m benchmarks.calibrate`, 2026-12-01.
    grow_threshold: float = Field(
        0.9, ge=-1, le=1, description="cosine from which on a new bullet may be the same as an old one"
    )
    refine: Literal["proactive", "lazy", "off"] = Field(
        "proactive", description="archive after every update, only over `max_sheet_tokens`, or never"
    )
    max_bullets: int | None = Field(None, ge=1, description="most active bullets; the worst are archived")
    max_sheet_tokens: int | None = Field(
        None, ge=1, description="most tokens of all active bullets together; the worst are archived"
    )
    max_experiences: int | None = Field(
        None, ge=1, description="most experiences that are served; the least recently used are archived"
    )
    max_bullet_chars: int = Field(8_000, ge=1, description="longest content of a bullet, in characters")
    helpful_weight: float = Field(1.0, gt=0, description="what a helpful vote counts in a bullet's utility")
    harmful_weight: float = Field(1.0, ge=0, description="what a harmful vote takes from a bullet's utility")
    half_life_days: float | None = Field(
        None,
        gt=0,
        le=36_500,
        description="days without use after which a bullet's votes count half; without it they do not age",
    )
    harmful_votes: int = Field(
        3, ge=1, description="harmful votes from which on a bullet with a utility below zero is archived"
    )

    merger: Literal["rules", "model"] = Field(
        "rules", description="who finds the words of merged bullets; counters and ids never come from a model"
    )
    compress: bool = Field(False, description="whether new bullets lose their filler words")
    left_out: Literal["keep", "archive"] = Field(
        "keep", description="what becomes of bullets that a rewritten cheatsheet leaves out"
    )
    max_loss: float = Field(
        0.2, ge=0, le=1, description="largest share of the bullets that one proposal may remove; above it none goes"
    )
    max_erosion: float = Field(
        0.3, ge=0, le=1, description="largest share of the bullets that rewriting may remove over many steps"
    )

    mask_secrets: bool = Field(True, description="whether keys, tokens and passwords are masked in what is stored")
    untrusted: tuple[str, ...] = Field(
        (),
        description="sources (`mcp`, `*.md`) and causes (`import`, `agent`, `turn`) whose bullets are not served until "
        "`cheatsheet restore` releases them",
    )
    quarantine_signs: bool = Field(
        True, description="whether bullets that look like injected instructions are not served until they are released"
    )

    # What is shown
    token_budget: int = Field(8_000, ge=0, description="most tokens of a context; `MINICLAW_TOKEN_BUDGET` also sets it")
    overflow: Literal["truncate", "stop", "skip"] = Field(
        "truncate", description="a section that does not fit is shortened, ends the context, or is left out"
    )
    counter: str = Field("auto", description="token counter: `auto`, `chars`, `cl100k_base`, `o200k_base`")
    examples: Literal["auto", "chat", "text", "continuation"] = Field(
        "auto", description="how experiences are shown to the model; `auto` suits the model"
    )

    scaffold: bool | None = Field(
        None, description="whether the model is told how to use and cite the notes; by default where it helps"
    )
    instructions: str = Field("", description="what stands first in every prompt, such as what to do with a question")
    answer_rounds: int = Field(
        1, ge=1, description="how often a question is answered before the answer counts, the earlier ones shown"
    )
    recall_cache: int = Field(
        128, ge=0, description="compiled contexts kept for when the same is asked of an unchanged memory"
    )

    order: Literal["priority", "cache"] = Field(
        "priority",
        description="how sections stand: by priority, or those that seldom change first, for providers' prompt caches",
    )

    # The context of an agent, beside what is remembered
    time_zone: str | None = Field(
        None, description="time zone of the user, such as `Europe/Berlin`; by default that of the machine"
    )
    time_modes: dict[str, str | list[str]] | None = Field(
        None, description='hours of each time mode in place of the usual ones, such as `{"night": "22:00-06:00", …}`'
    )
    providers: tuple[str, ...] = Field((), description="further context providers, as `package.module:name`")
    provider_timeout_s: float = Field(0.8, gt=0, description="seconds for one provider; a slower one is left out")
    git_timeout_s: float = Field(0.5, gt=0, description="seconds for git to tell the status of the workspace")

    # Code that a model writes
    run_code: Literal["off", "marked", "all"] = Field(
        "off", description="run Python in replies: never, where `EXECUTE CODE!` follows it, or every Python block"
    )
    code_rounds: int = Field(
        3, ge=1, description="most replies whose programs are run for one answer, each output shown to the model"
    )
    code_isolation: Literal["auto", "required", "none"] = Field(
        "auto", description="whether bubblewrap shuts programs in: where it works, always, or never"
    )
    code_timeout_s: float = Field(3.0, gt=0, description="seconds for one program")
    code_memory_mib: int = Field(512, ge=16, description="memory for one program, in MiB")

    # Embeddings
    embedder: str = Field(
        "auto",
        description="`auto` (all-MiniLM-L6-v2), `onnx` or `onnx:NAME`, `onnx-int8`, `hashing`, `litellm:NAME`, "
        "or a sentence-transformers name or folder",
    )
    embedder_threads: int | None = Field(
        None, ge=1, description="threads that one embedding may use; by default what the library takes"
    )
    index: Literal["auto", "exact", "faiss", "pq", "pgvector"] = Field(
        "auto",
        description="vector index: by size, exact in numpy, exact in FAISS, quantised with exact scores, or that of "
        "PostgreSQL; `auto` on PostgreSQL is `pgvector`",
    )
    keep_index: bool = Field(True, description="whether the index is kept in a file beside the memory file")
    search: Literal["vectors", "hybrid"] = Field(
        "vectors", description="what finds: vectors alone, or words (BM25) as well, as for error codes and names"
    )

    # Models
    model: str | None = Field(
        None, description="any LiteLLM name, such as `openai/gpt-4o-mini`, or `local/smollm2-135m`"
    )
    api_base: str | None = Field(None, description="address of the model's server")
    api_key: str | None = Field(None, repr=False, description="key; better left to the provider's own variable")
    max_tokens: int = Field(2_048, ge=1, description="room for an answer, in tokens")
    temperature: float = Field(0.0, ge=0, le=2, description="of the generator")
    timeout_s: float = Field(60.0, gt=0, description="seconds to wait for one call")
    retries: int = Field(3, ge=0, description="further tries of a call that failed for a passing reason")
    fallbacks: tuple[str, ...] = Field((), description="models asked in turn when `model` is unavailable")
    context_window: int | None = Field(None, ge=1, description="of the model, in tokens, where it is not known")
    model_cache: Literal["off", "memory", "disk"] = Field(
        "off", description="LiteLLM's cache of replies: none, in this process, or in `home`"
    )
    reflector: Literal["auto", "model", "rules"] = Field(
        "auto", description="who reflects; `auto`: the model, or the rules where it is absent or small"
    )
    curator: Literal["auto", "model", "rules"] = Field("auto", description="who curates; as `reflector`")
    reflector_model: str | None = Field(None, description="model of the reflector, if not `model`")
    reflector_api_base: str | None = Field(None, description="address of the reflector's model")
    curator_model: str | None = Field(None, description="model of the curator, if not `model`")
    curator_api_base: str | None = Field(None, description="address of the curator's model")

    @model_validator(mode="before")
    @classmethod
    def _published_mode(cls, values: Any) -> Any:
        """A published name of a mode brings the settings that it stands for; those that are given as well hold."""
        if isinstance(values, dict) and isinstance(values.get("mode"), str):
            meant = variant(values["mode"])
            return {**meant.settings, **values, "mode": meant.mode}
        return values

    @field_validator("time_modes", mode="before")
    @classmethod
    def _as_json(cls, value: Any) -> Any:
        """On the command line a table is written as JSON."""
        return json.loads(value) if isinstance(value, str) else value

    @property
    def home_folder(self) -> Path:
        """`home` with `~` resolved."""
        return self.home.expanduser()

    @property
    def on_postgres(self) -> bool:
        """Whether the memory is kept by a PostgreSQL server."""
        return (self.path or "").startswith(("postgresql://", "postgres://"))

    @property
    def memory_path(self) -> str:
        """The memory file, `:memory:`, or the address of a PostgreSQL database."""
        if self.path and (self.path == ":memory:" or self.on_postgres):
            return self.path
        return str(Path(self.path).expanduser() if self.path else self.home_folder / "memory.db")

    @property
    def memory_shown(self) -> str:
        """`memory_path` as messages may show it: without the password of an address."""
        if not self.on_postgres:
            return self.memory_path
        place = re.sub(r"(://[^:@/?]*):.*@", r"\1@", self.memory_path)  # also where signs in it are not escaped
        return re.sub(r"([?&][^=&]*(?:password|secret)[^=&]*=)[^&]*", r"\1***", place, flags=re.IGNORECASE)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings, env_settings, _ForeignEnv(settings_cls), _FileSource(settings_cls, init_settings()))


def load_settings(**overrides: Any) -> Settings:
    """Settings from `overrides`, the environment and the settings file; None in `overrides` means "not given".

    Raises:
        SettingsError: a setting is unknown (the nearest name is suggested) or out of range, or the file cannot be read.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    _check_names(given, "argument")
    _check_names(_env_names(os.environ), "environment variable", shown=lambda name: ENV_PREFIX + name.upper())
    try:
        return Settings(**given)
    except ValidationError as error:
        raise SettingsError(_sentence(error)) from error


class _ForeignEnv(PydanticBaseSettingsSource):
    """Variables of other engines that mean one of our settings."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        raise TypeError("All values are given at once.")

    def __call__(self) -> dict[str, Any]:
        return {name: os.environ[variable] for variable, name in _FOREIGN_ENV.items() if os.environ.get(variable)}


class _FileSource(PydanticBaseSettingsSource):
    """The settings file: the one named by `config`, else the first that is found here or in `home`."""

    def __init__(self, settings_cls: type[BaseSettings], given: Mapping[str, Any]) -> None:
        super().__init__(settings_cls)
        self._given = given

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        raise TypeError("All values are given at once.")

    def __call__(self) -> dict[str, Any]:
        path = self._find()
        if path is None:
            return {}
        values = _read_file(path)
        foreign = _translated(values.pop(FOREIGN_SECTION, {}), path)
        _check_names(values, f"setting in {path}")
        return foreign | values

    def _find(self) -> Path | None:
        named = self._named("config")
        if named:
            return Path(named).expanduser()
        home = Path(self._named("home") or Settings.model_fields["home"].default).expanduser()
        # Relative to the current folder, which may have been deleted: then nothing is found there.
        candidates = [folder / name for folder in (Path(), home) for name in FILE_NAMES]
        return next((path for path in candidates if os.path.isfile(path)), None)  # noqa: PTH113 - False where one may not look

    def _named(self, name: str) -> str | None:
        value = self._given.get(name) or os.environ.get(ENV_PREFIX + name.upper())
        return str(value) if value else None


def _read_file(path: Path) -> dict[str, Any]:
    import tomllib

    import yaml

    try:
        text = path.read_text(encoding="utf-8-sig")
        values = tomllib.loads(text) if path.suffix == ".toml" else yaml.safe_load(text) or {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"Cannot read the settings file {path}: {error}") from error
    if not isinstance(values, dict):
        raise SettingsError(f"The settings file {path} must hold names and values, such as `top_k = 5`.")
    return {str(name): value for name, value in values.items()}


def _translated(section: Any, path: Path) -> dict[str, Any]:
    """The section `ace_engine` in our names.

    Raises:
        SettingsError: it is no section, or has a name that is not understood.
    """
    if not isinstance(section, dict):
        raise SettingsError(
            f"{FOREIGN_SECTION} in {path} must hold names and values, such as `max_context_size: 4096`."
        )
    flat: dict[str, Any] = {}
    for name, value in section.items():
        flat |= {f"{name}.{part}": item for part, item in value.items()} if isinstance(value, dict) else {name: value}
    for name in flat:
        if name not in _FOREIGN_NAMES:
            raise SettingsError(
                f"Unknown setting {FOREIGN_SECTION}.{name} in {path}. This section may hold "
                f"{', '.join(_FOREIGN_NAMES)}; every other setting stands outside it, under its own name."
            )
    return {_FOREIGN_NAMES[name]: value for name, value in flat.items()}


def _env_names(environ: Mapping[str, str]) -> list[str]:
    return [name.removeprefix(ENV_PREFIX).lower() for name in environ if name.startswith(ENV_PREFIX)]


def _check_names(names: Iterable[str], what: str, shown: Any = str) -> None:
    for name in names:
        if name not in Settings.model_fields:
            close = nearest_name(name, Settings.model_fields)
            hint = f" Did you mean {shown(close)!r}?" if close else ""
            raise SettingsError(f"Unknown {what} {shown(name)!r}.{hint} `cheatsheet settings` lists them all.")


def _sentence(error: ValidationError) -> str:
    parts = [_told(".".join(map(str, item["loc"])), item["msg"], item["input"]) for item in error.errors()]
    return "These settings are not valid. " + "; ".join(parts) + " `cheatsheet settings` explains each."


def _told(name: str, message: str, given: Any) -> str:
    said = message.removeprefix("Value error, ")
    return f"{name}: {said} (given: {given!r})." if name else said
