"""What `cheatsheet doctor` looks at: one function a check, each of which tells what it finds and how to mend it.

Nothing is changed, no model is called and the network is not asked, unless a full examination loads an embedding model
that has to be downloaded, or asks the PostgreSQL server of the memory.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cheatsheet.context.providers.bootstrap import BootstrapProvider
from cheatsheet.context.providers.entities import ENTITIES_FILE, EntityStore
from cheatsheet.context.providers.file_health import damage_lines
from cheatsheet.context.providers.files import FileFact
from cheatsheet.context.providers.git import without_credentials
from cheatsheet.context.providers.home_files import HomeFilesProvider
from cheatsheet.context.providers.provider import ContextRequest
from cheatsheet.context.providers.skills import SkillsProvider
from cheatsheet.context.providers.state import STATE_FILE, load_state
from cheatsheet.errors import CheatsheetError
from cheatsheet.interfaces.adaptive import providers_of, time_modes_of, zone_of
from cheatsheet.interfaces.counter import build_counter
from cheatsheet.interfaces.doctor_files import check_files
from cheatsheet.interfaces.doctor_memory import check_journal, check_memory_file
from cheatsheet.interfaces.doctor_search import check_embedder, check_index, check_saved_index, check_search
from cheatsheet.interfaces.finding import Finding, Found, Level, read_by_others
from cheatsheet.safety.secrets import mask_secrets
from cheatsheet.settings import FILE_NAMES, Settings

Check = Callable[[Settings, bool], Iterator[Found]]
"""Looks at one thing; the bool says whether also what takes seconds is tried."""


def examine(settings: Settings, *, full: bool = False, checks: Mapping[str, Check] | None = None) -> list[Finding]:
    """Everything that is found, check by check. Nothing is raised: a check that fails is a finding.

    Args:
        full: load the embedding model, ask the server of the memory, verify all of it, and read saved indexes.
        checks: by name; None takes `CHECKS`.
    """
    found: list[Finding] = []
    for name, check in (CHECKS if checks is None else checks).items():
        try:
            found += [_finding(name, *one) for one in check(settings, full)]
        except CheatsheetError as error:
            found.append(_finding(name, "error", "This cannot be used.", str(error)))
        except Exception as error:  # a check may meet anything, and the others are still to be made
            text = f"The check failed: {type(error).__name__}: {error}"
            found.append(_finding(name, "error", text, "Please report this as a mistake of Cheatsheet."))
    return found


def _finding(check: str, level: Level, text: str, mend: str) -> Finding:
    """What errors of others say may hold a key."""
    return Finding(check=check, level=level, text=mask_secrets(text), mend=mask_secrets(mend))


def check_home(settings: Settings, full: bool) -> Iterator[Found]:
    """There, a folder, writable, and private."""
    home = settings.home_folder
    if not home.exists():
        yield "warning", f"{home} is not there yet.", "`cheatsheet init` makes it from templates."
    elif not home.is_dir():
        yield "error", f"{home} is no folder.", "Move it away, or choose another home (CHEATSHEET_HOME)."
    elif not os.access(home, os.W_OK | os.X_OK):
        yield "error", f"{home} cannot be written.", f"chmod u+wx {home}"
    elif others := read_by_others(home):
        yield "warning", f"{home} is open to others (mode {others:03o}).", f"chmod 700 {home}"
    else:
        yield "ok", f"{home} is there and private.", ""


def check_settings_file(settings: Settings, full: bool) -> Iterator[Found]:
    """Which one is in use. That it can be read shows in that there are settings."""
    folders = (Path.cwd(), settings.home_folder)
    candidates = (
        [settings.config.expanduser()] if settings.config else [f / name for f in folders for name in FILE_NAMES]
    )
    path = next((path for path in candidates if path.is_file()), None)
    if path is None:
        yield "ok", "There is none: defaults, environment and options hold.", ""
        return
    if read_by_others(path) and "api_key" in path.read_text(encoding="utf-8", errors="replace"):
        yield "warning", f"{path} names an api_key, and others can read it.", f"chmod 600 {path}"
    yield "ok", f"{path} is in use.", ""


def check_models(settings: Settings, full: bool) -> Iterator[Found]:
    """Whether every model that is named has its key or its file; none is called."""
    named = _models(settings)
    if not named:
        yield "ok", "None is named: the memory recalls and learns, but cannot answer.", ""
    for role, name, api_base in named:
        from cheatsheet.interfaces.parts import build_model
        from cheatsheet.llm.litellm_model import LiteLLMModel

        own = settings if role == "model" else settings.model_copy(update={"api_key": None, "context_window": None})
        model = build_model(own.model_copy(update={"fallbacks": ()}), name, api_base)
        try:
            if isinstance(model, LiteLLMModel):
                model.check()
        except CheatsheetError as error:
            yield "error", f"{role} {name} cannot be used.", str(error)
            continue
        asked = f", asked at {without_credentials(api_base)}" if api_base else ""
        yield "ok", f"{role} {name} has what it needs{asked}; it was not called.", ""


def _models(settings: Settings) -> list[tuple[str, str, str | None]]:
    """Role, name and address of every model that the settings name."""
    roles = (
        ("model", settings.model, settings.api_base),
        ("reflector_model", settings.reflector_model, settings.reflector_api_base),
        ("curator_model", settings.curator_model, settings.curator_api_base),
        *(("fallback", name, None) for name in settings.fallbacks),
    )
    return [(role, name, api_base) for role, name, api_base in roles if name]


def check_counter(settings: Settings, full: bool) -> Iterator[Found]:
    """Whether tokens can be counted."""
    counter = build_counter(settings)
    counter.count("Does it count?")
    yield "ok", f"Tokens are counted by {counter.name}.", ""


def check_time(settings: Settings, full: bool) -> Iterator[Found]:
    """The time zone and the table of the day."""
    zone = zone_of(settings, os.environ)
    time_modes_of(settings)
    if zone is UTC:
        text = "Neither the settings nor this machine tell a time zone; UTC is taken."
        yield "warning", text, "Set time_zone, such as CHEATSHEET_TIME_ZONE=Europe/Berlin."
    else:
        yield "ok", f"The time zone is {zone}; every minute of the day has its time mode.", ""


def check_providers(settings: Settings, full: bool) -> Iterator[Found]:
    """Whether context providers of users can be loaded."""
    providers, notes = providers_of(settings)
    for note in notes:
        yield "warning", note.text, "Correct or uninstall the package that offers it."
    yield "ok", f"{len(providers)} context providers: {', '.join(provider.name for provider in providers)}.", ""


def check_git(settings: Settings, full: bool) -> Iterator[Found]:
    """Whether the state of a repository can be asked for."""
    program = shutil.which("git")
    if program is None:
        yield "warning", "git is not installed: the status of a repository is not told.", "Install git."
    else:
        yield "ok", f"{program} is installed.", ""


def check_programs(settings: Settings, full: bool) -> Iterator[Found]:
    """Whether programs of models are shut in, where they are run."""
    if settings.run_code == "off":
        yield "ok", "Programs of models are not run.", ""
        return
    if settings.code_isolation == "none":
        yield "warning", "Programs of models run without isolation.", "Set code_isolation to 'auto' or 'required'."
        return
    from cheatsheet.sandbox.isolation import bubblewrap
    from cheatsheet.sandbox.sandbox import SandboxLimits

    isolation = bubblewrap(SandboxLimits().file_mib)
    if isolation.command:
        yield "ok", f"Programs of models are shut in: {isolation.told}.", ""
    else:
        level: Level = "error" if settings.code_isolation == "required" else "warning"
        yield (
            level,
            f"Programs of models cannot be shut in: {isolation.told}.",
            "Install bubblewrap, or run_code='off'.",
        )


def check_state(settings: Settings, full: bool) -> Iterator[Found]:
    """What was seen last time."""
    _, problem = load_state(settings.home_folder)
    if problem:
        yield "warning", problem, f"Nothing need be done; or delete {settings.home_folder / STATE_FILE}."
    else:
        yield "ok", "What was seen last time can be read, or there is nothing yet.", ""


def check_entities(settings: Settings, full: bool) -> Iterator[Found]:
    """The names that were met."""
    path = settings.home_folder / ENTITIES_FILE
    try:
        count = len(EntityStore(settings.home_folder).all())
    except CheatsheetError as error:
        yield "error", "The names that were met cannot be read, and no new ones are counted.", f"{error}"
        return
    yield "ok", f"{count:,} names were met ({path.name}).", ""


def check_home_files(settings: Settings, full: bool) -> Iterator[Found]:
    """Whether the files of the home can be read as they should."""
    home = settings.home_folder
    if not home.is_dir():
        return
    request = ContextRequest(now=datetime.now(UTC), home=home)
    provided = [provider.provide(request) for provider in (HomeFilesProvider(), BootstrapProvider(), SkillsProvider())]
    facts = [fact for found in provided for fact in found.files]
    for fact in facts:
        for line in damage_lines([fact]):
            yield "warning", line, _MENDED.get(fact.health, "Replace it by a text file.")
    for note in (note for found in provided for note in found.notes):
        yield "warning", note.text, "Correct its front matter (name and description between two lines of '---')."
    yield "ok", f"Files with content: {_list(facts)}.", ""


_MENDED: Final = {
    "oversized": "Shorten it: what lies behind is not shown.",
    "unreadable": "Make it a regular file that you may read.",
    "not-utf8": "Save it as UTF-8.",
    "outside": "Put the file itself there instead of the link.",
}

CHECKS: Final[Mapping[str, Check]] = {
    "home": check_home,
    "settings file": check_settings_file,
    "memory": check_memory_file,
    "journal": check_journal,
    "embedder": check_embedder,
    "index": check_index,
    "saved index": check_saved_index,
    "search": check_search,
    "models": check_models,
    "counter": check_counter,
    "time": check_time,
    "providers": check_providers,
    "git": check_git,
    "programs": check_programs,
    "state": check_state,
    "entities": check_entities,
    "home files": check_home_files,
    "files": check_files,
}


def _list(facts: list[FileFact]) -> str:
    return ", ".join(fact.path for fact in facts if fact.health == "ok") or "none"
