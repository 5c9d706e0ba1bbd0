"""What a project's manifests say: kind, name, dependencies, scripts. A malformed one is named and never fatal."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

from cheatsheet.context.fence import one_line
from cheatsheet.context.providers.files import read_file
from cheatsheet.context.providers.frameworks import FRAMEWORKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One manifest.

    Attributes:
        file: its name.
        kind: of the project, such as `Python`.
        dependencies: with versions, as the manifest writes them: `("flask", ">=3")`.
        scripts: names of what can be run.
        frameworks: those among the dependencies that are recognised.
        problem: why it, or a part of it, could not be read, as the rest of a sentence; empty when nothing is wrong.
    """

    file: str
    kind: str
    name: str = ""
    dependencies: tuple[tuple[str, str], ...] = ()
    scripts: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    problem: str = ""


class _MalformedError(ValueError):
    """A part of a manifest that is not what it should be."""


_Reader = Callable[[str], Manifest]


def read_manifests(root: Path, *, max_bytes: int) -> tuple[Manifest, ...]:
    """Every manifest that a folder has, in the order of `MANIFESTS`."""
    return tuple(
        manifest
        for file, (kind, reader) in MANIFESTS.items()
        if (manifest := _read(root, file, kind, reader, max_bytes)) is not None
    )


def _read(root: Path, file: str, kind: str, reader: _Reader, max_bytes: int) -> Manifest | None:
    read = read_file(root, file, max_bytes=max_bytes)
    if read.fact.health == "missing":
        return None
    bare = Manifest(file=file, kind=kind)
    if read.fact.health != "ok":
        return replace(bare, problem=read.fact.why)
    try:
        manifest = reader(read.text)
    except (ValueError, RecursionError, ElementTree.ParseError) as error:
        return replace(bare, problem=f"cannot be understood: {one_line(str(error) or 'it is nested too deeply')}")
    return _finished(manifest, root)


def _finished(manifest: Manifest, root: Path) -> Manifest:
    """Names as single lines, and the frameworks among the dependencies."""
    known = FRAMEWORKS[manifest.file]
    found = dict.fromkeys(known[name] for name, _ in manifest.dependencies if name in known)
    kind = manifest.kind
    if manifest.file == "package.json" and (root / "tsconfig.json").is_file():
        kind = _TYPESCRIPT
    return replace(
        manifest,
        kind=kind,
        name=one_line(manifest.name, max_chars=80),
        dependencies=tuple(
            (one_line(n, max_chars=80), one_line(v, max_chars=40)) for n, v in dict(manifest.dependencies).items()
        ),
        scripts=tuple(one_line(script, max_chars=60) for script in dict.fromkeys(manifest.scripts)),
        frameworks=tuple(found),
    )


# package.json

_TYPESCRIPT: Final = "Node.js/TypeScript"


def _package_json(text: str) -> Manifest:
    values = json.loads(text)
    if not isinstance(values, dict):
        raise _MalformedError("it is no table")
    groups = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
    found = [pair for group in groups for pair in _pairs(values, group)]
    return Manifest(
        file="package.json",
        kind=_TYPESCRIPT if "typescript" in dict(found) else "Node.js/JavaScript",
        name=_text(values.get("name")),
        dependencies=tuple(found),
        scripts=tuple(_table(values.get("scripts"), "scripts")),
    )


# pyproject.toml

_REQUIREMENT: Final = re.compile(r"\s*([\w.-]+)\s*(?:\[[^\]]*\])?\s*([^;]*)")


def _pyproject(text: str) -> Manifest:
    values = tomllib.loads(text)
    project, tool = _table(values.get("project"), "project"), _table(values.get("tool"), "tool")
    poetry = _table(tool.get("poetry"), "tool.poetry")
    groups = [
        project.get("dependencies"),
        *_table(project.get("optional-dependencies"), "optional-dependencies").values(),
    ]
    groups += _table(values.get("dependency-groups"), "dependency-groups").values()
    requirements = [_requirement(text) for group in groups for text in _texts(group, "a group of dependencies")]
    requirements += _pairs(poetry, "dependencies")
    for group in _table(poetry.get("group"), "tool.poetry.group").values():
        requirements += _pairs(_table(group, "a group of dependencies"), "dependencies")
    scripts = [
        _table(part.get("scripts"), "scripts") for part in (project, poetry, _table(tool.get("pdm"), "tool.pdm"))
    ]
    return Manifest(
        file="pyproject.toml",
        kind="Python",
        name=_text(project.get("name") or poetry.get("name")),
        dependencies=tuple(requirements),
        scripts=tuple(name for table in scripts for name in table),
    )


def _requirement(text: str) -> tuple[str, str]:
    """Name and version of a requirement as PEP 508 writes it; a marker is left out."""
    found = _REQUIREMENT.match(text)
    if found is None:
        raise _MalformedError(f"{one_line(text, max_chars=60)!r} is no requirement")
    return found[1].lower(), "".join(found[2].split()).strip("()")


# Cargo.toml


def _cargo(text: str) -> Manifest:
    values = tomllib.loads(text)
    package, workspace = _table(values.get("package"), "package"), _table(values.get("workspace"), "workspace")
    groups = [(values, "dependencies"), (values, "dev-dependencies"), (values, "build-dependencies")]
    found = [pair for table, group in (*groups, (workspace, "dependencies")) for pair in _pairs(table, group)]
    return Manifest(
        file="Cargo.toml",
        kind="Rust",
        name=_text(package.get("name")),
        dependencies=tuple(found),
        scripts=tuple(_text(_table(bin, "a bin").get("name")) for bin in _list(values.get("bin"), "bin")),
    )


# go.mod

_GO_REQUIRE: Final = re.compile(r"(\S+)\s+(v\S+)")


def _go_mod(text: str) -> Manifest:
    lines = [line.partition("//")[0].strip() for line in text.splitlines()]
    module = next((line.split()[1] for line in lines if line.startswith("module ") and len(line.split()) > 1), "")
    if not module:
        raise _MalformedError("it has no line 'module …'")
    required: list[tuple[str, str]] = []
    block = ""
    for line in lines:
        if line.endswith("("):
            block = line[:-1].strip()
        elif line == ")":
            block = ""
        elif block == "require" or line.startswith("require "):
            required += _GO_REQUIRE.findall(line.removeprefix("require "))
    return Manifest(file="go.mod", kind="Go", name=module, dependencies=tuple(required))


# pom.xml


def _pom(text: str) -> Manifest:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:  # entities can be made to grow without end
        raise _MalformedError("it declares a document type, which is not read")
    root = ElementTree.fromstring(text)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]  # without the namespace
    if root.tag != "project":
        raise _MalformedError(f"its root is <{one_line(root.tag, max_chars=40)}>, not <project>")
    properties = {child.tag: child.text or "" for child in root.iterfind("./properties/*")}
    found = [_dependency(element, properties) for element in root.iterfind("./dependencies/dependency")]
    found += [_dependency(element, properties) for element in root.iterfind("./parent")]
    return Manifest(
        file="pom.xml",
        kind="Java",
        name=(root.findtext("name") or root.findtext("artifactId") or "").strip(),
        dependencies=tuple(found),
        scripts=tuple((element.findtext("id") or "").strip() for element in root.iterfind("./profiles/profile")),
    )


def _dependency(element: ElementTree.Element, properties: Mapping[str, str]) -> tuple[str, str]:
    group, artifact, version = ((element.findtext(tag) or "").strip() for tag in ("groupId", "artifactId", "version"))
    placeholder = re.fullmatch(r"\$\{([\w.-]+)\}", version)
    return f"{group}:{artifact}", properties.get(placeholder[1], version).strip() if placeholder else version


# Values that may be anything


def _table(value: Any, what: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _MalformedError(f"{what} is no table")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise _MalformedError(f"{what} is no list")
    return value


def _texts(value: Any, what: str) -> Iterable[str]:
    """The texts of a list; tables in it, such as `{include-group = …}`, are no dependencies."""
    return (text for text in _list(value, what) if isinstance(text, str))


def _pairs(table: Mapping[str, Any], group: str) -> Iterable[tuple[str, str]]:
    return [(name, _version(value)) for name, value in _table(table.get(group), group).items()]


def _version(value: Any) -> str:
    """A version, or what stands for it: a path, an address, the workspace."""
    if isinstance(value, dict):
        found = next((key for key in ("version", "git", "path", "workspace", "url") if key in value), "")
        return _text(value[found]) if found == "version" else f"({found})" if found else ""
    return _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


MANIFESTS: Final[Mapping[str, tuple[str, _Reader]]] = {
    "package.json": ("Node.js/JavaScript", _package_json),
    "pyproject.toml": ("Python", _pyproject),
    "Cargo.toml": ("Rust", _cargo),
    "go.mod": ("Go", _go_mod),
    "pom.xml": ("Java", _pom),
}
