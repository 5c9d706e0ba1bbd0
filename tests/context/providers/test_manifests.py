"""Manifests of each kind, whole and malformed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheatsheet.context.providers.frameworks import FRAMEWORKS
from cheatsheet.context.providers.manifests import MANIFESTS, Manifest, read_manifests
from tests.context.providers.worlds import write

PACKAGE = """{
  "name": "shop", "scripts": {"build": "tsc", "test": "vitest"},
  "dependencies": {"react": "^18.2.0"}, "devDependencies": {"typescript": "~5.4", "vitest": "1"}
}"""
PYPROJECT = """
[project]
name = "shop"
dependencies = ["Flask[async] >= 3.0, <4 ; python_version > '3.8'", "numpy", "tool @ https://x.example/t.zip"]
[project.optional-dependencies]
dev = ["pytest (>=8)"]
[project.scripts]
shop = "shop:main"
[dependency-groups]
lint = ["ruff==0.5", {include-group = "dev"}]
[tool.poetry.dependencies]
python = "^3.11"
django = {version = "^5.0", extras = ["x"]}
local = {path = "../local"}
[tool.poetry.group.docs.dependencies]
mkdocs = "*"
"""
CARGO = """
[package]
name = "shop"
[dependencies]
axum = "0.7"
serde = { version = "1.0", features = ["derive"] }
ours = { path = "../ours" }
theirs.workspace = true
[dev-dependencies]
tokio = { git = "https://x.example/t" }
[[bin]]
name = "serve"
"""
GO = """module example.com/shop // the shop

go 1.22

require github.com/gin-gonic/gin v1.9.1
require (
\tgithub.com/spf13/cobra v1.8.0
\tgolang.org/x/text v0.14.0 // indirect
)
replace example.com/a v1.0.0 => ../a
"""
POM = """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>3.2.0</version></parent>
  <artifactId>shop</artifactId>
  <properties><guava.version>33.0</guava.version></properties>
  <dependencies>
    <dependency><groupId>com.google.guava</groupId><artifactId>guava</artifactId><version>${guava.version}</version></dependency>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId></dependency>
  </dependencies>
  <profiles><profile><id>native</id></profile></profiles>
</project>
"""


def read(root: Path, file: str, content: str | bytes) -> Manifest:
    (manifest,) = read_manifests(write(root, {file: content}), max_bytes=100_000)
    return manifest


def test_package_json(tmp_path: Path) -> None:
    assert read(tmp_path, "package.json", PACKAGE) == Manifest(
        file="package.json",
        kind="Node.js/TypeScript",
        name="shop",
        dependencies=(("react", "^18.2.0"), ("typescript", "~5.4"), ("vitest", "1")),
        scripts=("build", "test"),
        frameworks=("React", "Vitest"),
    )


def test_typescript_is_told_from_javascript(tmp_path: Path) -> None:
    assert read(tmp_path, "package.json", "{}").kind == "Node.js/JavaScript"
    write(tmp_path, {"tsconfig.json": "{}"})
    assert read(tmp_path, "package.json", "\ufeff{}").kind == "Node.js/TypeScript"


def test_pyproject(tmp_path: Path) -> None:
    manifest = read(tmp_path, "pyproject.toml", PYPROJECT)
    assert (manifest.kind, manifest.name, manifest.scripts) == ("Python", "shop", ("shop",))
    assert dict(manifest.dependencies) == {
        "flask": ">=3.0,<4",
        "numpy": "",
        "tool": "@https://x.example/t.zip",
        "pytest": ">=8",
        "ruff": "==0.5",
        "python": "^3.11",
        "django": "^5.0",
        "local": "(path)",
        "mkdocs": "*",
    }
    assert manifest.frameworks == ("Flask", "pytest", "Django")


def test_cargo(tmp_path: Path) -> None:
    manifest = read(tmp_path, "Cargo.toml", CARGO)
    assert (manifest.kind, manifest.name, manifest.scripts) == ("Rust", "shop", ("serve",))
    assert dict(manifest.dependencies) == {
        "axum": "0.7",
        "serde": "1.0",
        "ours": "(path)",
        "theirs": "(workspace)",
        "tokio": "(git)",
    }
    assert manifest.frameworks == ("Axum", "Tokio")


def test_go_mod(tmp_path: Path) -> None:
    manifest = read(tmp_path, "go.mod", GO)
    assert (manifest.kind, manifest.name) == ("Go", "example.com/shop")
    assert dict(manifest.dependencies) == {
        "github.com/gin-gonic/gin": "v1.9.1",
        "github.com/spf13/cobra": "v1.8.0",
        "golang.org/x/text": "v0.14.0",
    }
    assert manifest.frameworks == ("Gin", "Cobra")


def test_pom(tmp_path: Path) -> None:
    manifest = read(tmp_path, "pom.xml", POM)
    assert (manifest.kind, manifest.name, manifest.scripts) == ("Java", "shop", ("native",))
    assert dict(manifest.dependencies) == {
        "com.google.guava:guava": "33.0",
        "junit:junit": "",
        "org.springframework.boot:spring-boot-starter-parent": "3.2.0",
    }
    assert manifest.frameworks == ("JUnit", "Spring Boot")


MALFORMED: dict[str, list[str | bytes]] = {
    "package.json": [
        "{",
        "[]",
        "null",
        '{"dependencies": ["react"]}',
        '{"scripts": "make"}',
        "[" * 50_000,
        '{"a": 1' + "0" * 5_000 + "}",
        b"\xff\xfe\x00",
        "",
        "// comment\n{}",
    ],
    "pyproject.toml": [
        "[project",
        "project = 1",
        "[project]\ndependencies = 'flask'",
        "[project]\ndependencies = ['!!']",
        "a = " + "[" * 50_000,
        b"caf\xe9",
        "tool = []",
    ],
    "Cargo.toml": [
        "package = 'x'",
        "[dependencies",
        "bin = {}",
        "[package]\nname = 'x'\nname = 'y'",
        "dependencies = []",
    ],
    "go.mod": ["", "nonsense", "module\n", "<xml/>"],
    "pom.xml": [
        "<project>",
        "<other/>",
        "no xml",
        '<!DOCTYPE project [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><project>&b;</project>',
        '<!DOCTYPE project [<!ENTITY x SYSTEM "file:///etc/passwd">]><project>&x;</project>',
        "<project>&undefined;</project>",
        POM.encode("utf-16"),
    ],
}


@pytest.mark.parametrize(("file", "number"), [(f, n) for f, many in MALFORMED.items() for n in range(len(many))])
def test_a_malformed_manifest_is_named_and_keeps_its_kind(tmp_path: Path, file: str, number: int) -> None:
    manifest = read(tmp_path, file, MALFORMED[file][number])
    assert manifest.kind == MANIFESTS[file][0]
    assert manifest.problem
    assert manifest.dependencies == ()
    assert len(manifest.problem) < 400


def test_a_mistake_in_one_does_not_hide_the_others(tmp_path: Path) -> None:
    write(tmp_path, {"package.json": "{", "pyproject.toml": PYPROJECT, "go.mod": GO})
    found = read_manifests(tmp_path, max_bytes=100_000)
    assert [(manifest.file, bool(manifest.problem)) for manifest in found] == [
        ("package.json", True),
        ("pyproject.toml", False),
        ("go.mod", False),
    ]


def test_a_manifest_that_is_too_long_or_no_file_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"package.json": '{"name": "x"}' + " " * 200, "secret": '{"name": "theirs"}'})
    (tmp_path / "pyproject.toml").mkdir()
    (tmp_path / "go.mod").symlink_to("go.mod")
    problems = {manifest.file: manifest.problem for manifest in read_manifests(tmp_path, max_bytes=100)}
    assert problems["package.json"] == "has 213 bytes, of which 100 are read"
    assert "no regular file" in problems["pyproject.toml"]
    assert problems["go.mod"].startswith("cannot be read")
    inner = write(tmp_path / "inner", {})
    (inner / "package.json").symlink_to("../secret")
    (manifest,) = read_manifests(inner, max_bytes=100)
    assert (manifest.name, "leads out" in manifest.problem) == ("", True)


@given(st.sampled_from(sorted(MANIFESTS)), st.text(max_size=80) | st.binary(max_size=80))
def test_no_content_makes_reading_fail(
    tmp_path_factory: pytest.TempPathFactory, file: str, content: str | bytes
) -> None:
    root = tmp_path_factory.getbasetemp() / "any-manifest"
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    manifest = read(root, file, data)
    (root / file).unlink()
    assert "\n" not in "".join([manifest.problem, manifest.name, *manifest.scripts, *dict(manifest.dependencies)])


def test_every_manifest_has_its_frameworks() -> None:
    assert FRAMEWORKS.keys() == MANIFESTS.keys()
