"""Skills: `skills/*/SKILL.md` in the home, each with a name and a description in its front matter."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from cheatsheet.context.fence import one_line
from cheatsheet.context.providers.effects import EFFECTS
from cheatsheet.context.providers.files import FileFact, FileRead, read_file, walk_files
from cheatsheet.context.providers.provider import ContextRequest, Note, Provided
from cheatsheet.context.section import Item, Section

SKILLS_FOLDER: Final = "skills"
SKILLS_PRIORITY: Final = 5

_FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_FRONT_CHARS: Final = 8_192
_FIELD: Final = re.compile(r"^(name|description)[ \t]*:[ \t]*(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill.

    Attributes:
        folder: below `skills`.
        name, description: from its front matter; the folder's name, and the first line of the text, where it has none.
        problem: what is wrong with its front matter, as a sentence; empty when nothing is.
    """

    folder: str
    name: str
    description: str
    problem: str = ""


@dataclass(slots=True)
class SkillCache:
    """Skills by the digest of their file, so that no front matter is read twice; used by several threads."""

    _skills: dict[tuple[str, str], Skill] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def skill(self, folder: str, read: FileRead) -> Skill:
        """The skill of a file as it was read."""
        key = (folder, read.fact.digest)
        with self._lock:
            known = self._skills.get(key)
        found = known or read_skill(folder, read.text)
        with self._lock:
            self._skills[key] = found
        return found

    def keep_only(self, found: Iterable[tuple[str, str]]) -> None:
        """Drop every skill that is not among these folders and digests."""
        kept = set(found)
        with self._lock:
            self._skills = {key: skill for key, skill in self._skills.items() if key in kept}

    def __len__(self) -> int:
        return len(self._skills)


@dataclass(frozen=True, slots=True)
class SkillsProvider:
    """One section that lists the skills, a line each; their text is read when one is used."""

    name: str = "skills"
    cache: SkillCache = field(default_factory=SkillCache)

    def provide(self, request: ContextRequest) -> Provided:
        root = request.home / SKILLS_FOLDER
        walk = walk_files(root, max_files=request.limits.folder_files)
        limit = request.limits.file_bytes
        reads = [(path, read_file(root, path, max_bytes=limit, hashed_bytes=limit)) for path in walk.files]
        named = [(path.split("/")[0], read) for path, read in reads if _is_skill(path) and read.text.strip()]
        skills = sorted((self.cache.skill(folder, read) for folder, read in named), key=lambda skill: skill.folder)
        self.cache.keep_only((folder, read.fact.digest) for folder, read in named)
        return Provided(
            sections=(_section(skills, request),) if skills else (),
            notes=tuple(_notes(walk.skipped, skills, request)),
            files=tuple(_fact(path, read) for path, read in reads),
        )


def read_skill(folder: str, text: str) -> Skill:
    """A skill from the text of its SKILL.md, whatever state its front matter is in."""
    front = _FRONT_MATTER.match(text[:_FRONT_CHARS])
    if front is None:
        return _skill(folder, {}, text, f"The skill {folder} has no front matter (name, description between '---').")
    fields, problem = _fields(front[1])
    told = f"The front matter of the skill {folder} {problem}." if problem else ""
    return _skill(folder, fields, text[front.end() :], told)


def _skill(folder: str, fields: dict[str, Any], body: str, problem: str) -> Skill:
    first_line = next((line.strip("# \t") for line in body.splitlines() if line.strip("# \t-")), "")
    return Skill(
        folder=one_line(folder, max_chars=64),
        name=one_line(str(fields.get("name") or folder), max_chars=64),
        description=one_line(str(fields.get("description") or first_line)),
        problem=one_line(problem),
    )


def _fields(front: str) -> tuple[dict[str, Any], str]:
    """The fields of a front matter and what is wrong with it.

    A description with a colon in it is the usual mistake; YAML refuses it, and it is read line by line instead.
    """
    import yaml  # 20 ms

    try:
        fields = yaml.safe_load(front)
    except (yaml.YAMLError, ValueError, RecursionError):
        loose = {name: " ".join(value.split()).strip("\"'") for name, value in _FIELD.findall(front)}
        return loose, "is no valid YAML; it is read line by line. Put quotes around texts with a colon"
    if not isinstance(fields, dict):
        return {}, "is no list of fields"
    missing = [name for name in ("name", "description") if not fields.get(name)]
    return fields, f"has no {' and no '.join(missing)}" if missing else ""


def _section(skills: list[Skill], request: ContextRequest) -> Section:
    brief = EFFECTS[request.time_mode].detail == "brief"
    return Section(
        name="skills",
        priority=SKILLS_PRIORITY,
        text="# Skills\nWhere one fits the task, read its SKILL.md before you start.\n",
        items=tuple(Item(text=_line(skill, brief=brief)) for skill in skills[: request.limits.skills]),
        shorten="drop-last",
        stable=True,
    )


def _line(skill: Skill, *, brief: bool) -> str:
    about = f": {skill.description}" if skill.description and not brief else ""
    return f"- {skill.name} ({SKILLS_FOLDER}/{skill.folder}/SKILL.md){about}"


def _notes(skipped: list[str], skills: list[Skill], request: ContextRequest) -> Iterable[Note]:
    texts = [f"{SKILLS_FOLDER}: {text}" for text in skipped] + [skill.problem for skill in skills if skill.problem]
    if len(skills) > request.limits.skills:
        texts.append(f"{len(skills):,} skills; the first {request.limits.skills:,} are shown.")
    for text in texts:
        yield Note(kind="damaged", provider="skills", text=one_line(text))


def _is_skill(path: str) -> bool:
    return path.count("/") == 1 and path.endswith("/SKILL.md")


def _fact(path: str, read: FileRead) -> FileFact:
    """The file below the home. Beside a SKILL.md may lie pictures and programs; that they are no text is no damage."""
    fact = replace(read.fact, path=f"{SKILLS_FOLDER}/{read.fact.path}")
    return fact if _is_skill(path) or not fact.digest else replace(fact, health="ok", why="")
