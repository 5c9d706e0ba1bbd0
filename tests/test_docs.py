"""What the documents say is what the code does: settings, commands, modes, errors and examples."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

import cheatsheet.errors
from cheatsheet.errors import CheatsheetError
from cheatsheet.evaluation.controls.registry import CONTROLS
from cheatsheet.evaluation.metrics.metric import QUANTITIES
from cheatsheet.evaluation.scorers import BUILTIN
from cheatsheet.interfaces.cli import build_app
from cheatsheet.interfaces.cli.options import option_name
from cheatsheet.settings import ENV_PREFIX, Settings
from modes.names import MODES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def settings_table() -> str:
    """The table of settings in the README."""
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "" if field.default in (None, ()) else f"`{field.default}`"
        lines.append(f"| `{name}` | {default} | {field.description} |")
    return "\n".join(lines)


def errors() -> list[type[CheatsheetError]]:
    found = [getattr(cheatsheet.errors, name) for name in cheatsheet.errors.__all__]
    return [error for error in found if inspect.isclass(error) and issubclass(error, CheatsheetError)]


def test_the_settings_table_is_that_of_the_code() -> None:
    assert settings_table() in README


def test_every_command_and_option_is_documented() -> None:
    group = typer.main.get_command(build_app())
    for name, command in group.commands.items():  # type: ignore[attr-defined]  # it is a group
        assert f"`cheatsheet {name}" in README, name
        assert command.help, name
        settings = {option_name(setting) for setting in Settings.model_fields}
        options = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
        for option in options - settings - {"--help"}:
            assert f"`{option}" in README, f"{name} {option}"


def test_every_mode_and_scorer_is_documented() -> None:
    for name in (*MODES, *BUILTIN):
        assert f"`{name}`" in README, name


def test_every_control_is_documented() -> None:
    for name in CONTROLS:
        assert f"`{name}`" in README, name


def test_every_metric_is_documented() -> None:
    for name in QUANTITIES:
        assert f"`{name}`" in README, name


def test_every_error_is_documented_and_in_the_tree() -> None:
    for error in errors():
        assert f"`{error.__name__}`" in README, error.__name__
        assert error.__name__ in (cheatsheet.errors.__doc__ or ""), error.__name__
        assert error.__doc__, error.__name__


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    lines = re.findall(r"^( *[│├└─ ]*)(\w+Error)\b", cheatsheet.errors.__doc__ or "", flags=re.MULTILINE)
    parents: list[str] = []
    margin = len(lines[0][0])
    for indent, name in lines:
        depth = (len(indent) - margin) // 4
        parents[depth:] = [name]
        if depth:
            error, parent = getattr(cheatsheet.errors, name), getattr(cheatsheet.errors, parents[depth - 1])
            assert parent in error.__bases__, f"{name} does not stand below {parents[depth - 1]}"
    assert len(lines) == len(errors())


def test_the_environment_prefix_is_documented() -> None:
    assert f"{ENV_PREFIX}TOP_K" in README


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_inside_the_project_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert (ROOT / target).exists(), f"{name} links to {target}"


def test_every_folder_and_module_is_in_the_picture() -> None:
    for package in ("cheatsheet", "indexes", "modes", "benchmarks"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.name not in ("__init__.py", "__main__.py"):
                assert path.stem in ARCHITECTURE, f"{path.relative_to(ROOT)} is not in ARCHITECTURE.md"


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL))
def test_python_examples_of_the_readme_run(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block runs as it stands; models that need a network or a key are scripted, the embedder hashes."""
    from cheatsheet.llm.scripted import ScriptedModel

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHEATSHEET_EMBEDDER", "hashing")
    monkeypatch.setattr(
        "cheatsheet.interfaces.parts.build_model",
        lambda settings, name, api_base: None if name is None else ScriptedModel(lambda request: "crimson"),
    )
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, cheatsheet\n"
        "heavy = {'torch', 'litellm', 'faiss', 'sentence_transformers', 'transformers', 'numpy', 'pydantic', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there_and_documented() -> None:
    import cheatsheet as package

    for name in package.__all__:
        value = getattr(package, name)
        assert (value.__doc__ or "").strip() or name == "Operation", name
    with pytest.raises(AttributeError, match="no attribute 'recal'"):
        _ = package.recal
