"""Nothing that is read can become code: our own modules neither load pickles nor evaluate texts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
MODULES = sorted(
    path for package in ("indexes", "cheatsheet", "modes", "benchmarks") for path in (ROOT / package).rglob("*.py")
)

CODE_FROM_DATA = frozenset("pickle cPickle _pickle dill cloudpickle joblib marshal shelve jsonpickle".split())
EVALUATES = frozenset("eval exec compile __import__".split())
LOADS_OBJECTS = frozenset(
    "yaml.load yaml.load_all yaml.unsafe_load yaml.full_load os.system os.popen torch.load numpy.load np.load"
    " pandas.read_pickle builtins.eval builtins.exec".split()
)
# What runs a model's program does so in a process of its own, shut in, and only where the user turned it on.
RUNS_PROGRAMS = {"cheatsheet/sandbox/inside.py": {"eval", "exec", "compile"}}
# Its loader is made from PyYAML's safe one; the test of the YAML formats feeds it objects.
SAFE_LOADERS = {"cheatsheet/memory/formats/yaml_text.py": {"yaml.load"}}

# Tries whether an error can travel between a run's own processes; nothing that comes from elsewhere is loaded.
OWN_PROCESSES = {"cheatsheet/evaluation/runs/engines/worker.py": {"pickle"}}


def found_in(source: str) -> Iterator[str]:
    """What a module imports or calls that could turn data into code."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.split(".")[0] in CODE_FROM_DATA)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in CODE_FROM_DATA:
            yield str(node.module)
        elif isinstance(node, ast.Call):
            yield from _calls(node)


def _calls(node: ast.Call) -> Iterator[str]:
    called = ast.unparse(node.func)
    if called in EVALUATES | LOADS_OBJECTS:
        yield called
    for keyword in node.keywords:
        if keyword.arg in ("shell", "allow_pickle") and not _is_false(keyword.value):
            yield f"{called}({keyword.arg}=…)"


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_pickle_and_no_eval(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    allowed = set().union(*(exceptions.get(name, set()) for exceptions in (RUNS_PROGRAMS, SAFE_LOADERS, OWN_PROCESSES)))
    assert set(found_in(path.read_text(encoding="utf-8"))) <= allowed


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from marshal import loads",
        "import dill as d",
        "eval('1')",
        "subprocess.run(x, shell=True)",
        "numpy.load(f, allow_pickle=True)",
        "yaml.load(x)",
        "os.system('ls')",
    ],
)
def test_the_test_finds_them(source: str) -> None:
    assert list(found_in(source))


def test_ordinary_code_passes() -> None:
    source = "import re\nre.compile('x')\nself._compile(x)\nsubprocess.run(x, shell=False)\nyaml.safe_load(x)"
    assert list(found_in(source)) == []
