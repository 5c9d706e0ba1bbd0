"""How much providers read, and how long they may take."""

from __future__ import annotations

from dataclasses import dataclass, fields

from cheatsheet.context.providers.continuation import DEFAULT_CHARS, DEFAULT_MINUTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one request.

    Attributes:
        provider_timeout_s: for one provider; a slower one is left out.
        git_timeout_s: for all questions to git together; below that of the provider, so that a slow status costs the
            status and not the section.
        file_bytes: of a home file or a skill; what is longer is read to there.
        log_bytes: of a day's log, from which on it is suggested to distil it.
        manifest_bytes: of a manifest; a longer one is not read.
        folder_files: most files looked at below one folder.
        skills: most skills shown.
        listed: most dependencies, scripts or changed files shown where the mode does not ask for all.
        listed_in_full: the same where it does.
        tools_chars: of TOOLS.md, where the mode does not ask for it in full.
        entities: most entities shown.
        continuation_minutes: since today's log was written, within which a session goes on.
        continuation_chars: of today's log, more than which it takes for a session to go on.
    """

    provider_timeout_s: float = 0.8
    git_timeout_s: float = 0.5
    file_bytes: int = 262_144
    log_bytes: int = 65_536
    manifest_bytes: int = 1_048_576
    folder_files: int = 2_000
    skills: int = 200
    listed: int = 12
    listed_in_full: int = 60
    tools_chars: int = 2_000
    entities: int = 8
    continuation_minutes: int = DEFAULT_MINUTES
    continuation_chars: int = DEFAULT_CHARS

    def __post_init__(self) -> None:
        for limit in fields(self):
            if getattr(self, limit.name) <= 0:
                raise ValueError(f"{limit.name} is {getattr(self, limit.name)!r}; give a number above 0.")
