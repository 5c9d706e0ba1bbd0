"""Settings: from arguments, the environment and a file, in this order of precedence.

Every setting has one name everywhere: `top_k` as an argument and in the file, `CHEATSHEET_TOP_K` in the environment,
`--top-k` on the command line. Read at the door by the interfaces only; the core takes values.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from cheatsheet.errors import SettingsError, nearest_name
from modes.names import mode_name

ENV_PREFIX = "CHEATSHEET_"
FILE_NAMES = ("cheatsheet.toml", "cheatsheet.yaml", "cheatsheet.yml")

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
    path: str | None = Field(None, description="memory file, or `:memory:`; by default `memory.db` in `home`")
    namespace: str = Field("default", pattern=r"^[\w.-]{1,64}$", description="one of several memories in one file")
    synchronous: Literal["full", "normal"] = Field(
        "full", description="`full`: what is learnt survives a loss of power; `normal`: the death of the process"
    )
    busy_timeout_s: float = Field(30.0, gt=0, description="seconds to wait for other processes that write")

    # What is remembered, and how
    mode: str = Field("retrieval", description="memory mode: `default`, `full-history`, `cumulative`, `retrieval`")
    top_k: int = Field(5, ge=1, description="bullets and experiences shown by the mode `retrieval`")
    similarity_threshold: float = Field(
        0.0, ge=-1, le=1, description="lowest cosine to the question of what the mode `retrieval` shows"
    )
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
    max_bullet_chars: int = Field(8_000, ge=1, description="longest content of a bullet, in characters")
    harmful_weight: float = Field(1.0, ge=0, description="how many helpful votes a harmful vote outweighs")
    harmful_votes: int = Field(
        3, ge=1, description="harmful votes from which on a bullet with a utility below zero is archived"
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

    # Embeddings
    embedder: str = Field(
        "auto",
        description="`auto` (all-MiniLM-L6-v2), `hashing`, `litellm:NAME`, or a sentence-transformers name or folder",
    )
    index: Literal["faiss", "exact"] = Field("faiss", description="vector index")

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
    reflector: Literal["auto", "model", "rules"] = Field(
        "auto", description="who reflects; `auto`: the model, or the rules where it is absent or small"
    )
    curator: Literal["auto", "model", "rules"] = Field("auto", description="who curates; as `reflector`")
    reflector_model: str | None = Field(None, description="model of the reflector, if not `model`")
    reflector_api_base: str | None = Field(None, description="address of the reflector's model")
    curator_model: str | None = Field(None, description="model of the curator, if not `model`")
    curator_api_base: str | None = Field(None, description="address of the curator's model")

    @field_validator("mode")
    @classmethod
    def _known_mode(cls, mode: str) -> str:
        return mode_name(mode)

    @property
    def home_folder(self) -> Path:
        """`home` with `~` resolved."""
        return self.home.expanduser()

    @property
    def memory_path(self) -> str:
        """The memory file, or `:memory:`."""
        if self.path == ":memory:":
            return self.path
        return str(Path(self.path).expanduser() if self.path else self.home_folder / "memory.db")

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
        _check_names(values, f"setting in {path}")
        return values

    def _find(self) -> Path | None:
        named = self._named("config")
        if named:
            return Path(named).expanduser()
        home = Path(self._named("home") or Settings.model_fields["home"].default).expanduser()
        candidates = [folder / name for folder in (Path.cwd(), home) for name in FILE_NAMES]
        return next((path for path in candidates if path.is_file()), None)

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


def _env_names(environ: Mapping[str, str]) -> list[str]:
    return [name.removeprefix(ENV_PREFIX).lower() for name in environ if name.startswith(ENV_PREFIX)]


def _check_names(names: Iterable[str], what: str, shown: Any = str) -> None:
    for name in names:
        if name not in Settings.model_fields:
            close = nearest_name(name, Settings.model_fields)
            hint = f" Did you mean {shown(close)!r}?" if close else ""
            raise SettingsError(f"Unknown {what} {shown(name)!r}.{hint} `cheatsheet settings` lists them all.")


def _sentence(error: ValidationError) -> str:
    parts = [
        f"{'.'.join(str(part) for part in item['loc']) or 'settings'}: {item['msg'].removeprefix('Value error, ')}"
        f" (given: {item['input']!r})"
        for item in error.errors()
    ]
    return "These settings are not valid. " + "; ".join(parts) + ". `cheatsheet settings` explains each."
