"""Providers of users, and running providers side by side."""

from __future__ import annotations

import subprocess
import sys
import threading
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from cheatsheet.context.providers.limits import Limits
from cheatsheet.context.providers.provider import ContextRequest, FunctionProvider, Provided, Provider
from cheatsheet.context.providers.registry import (
    ENTRY_POINT_GROUP,
    default_providers,
    installed_providers,
    load_provider,
)
from cheatsheet.context.providers.running import Runner
from cheatsheet.context.section import Section
from cheatsheet.errors import SetupError
from tests.context.providers.worlds import PATIENT, request, write

OWN = """
from cheatsheet.context.providers.provider import Provided
class Weather:
    name = "weather"
    def provide(self, request):
        return Provided()
ready = Weather()
def make():
    return Weather()
def broken():
    raise RuntimeError("no sky")
number = 3
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module with providers."""
    name = "own_weather"
    write(tmp_path, {f"{name}.py": OWN, "broken_module.py": "1/0"})
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


def test_ours_have_names_of_their_own() -> None:
    names = [provider.name for provider in default_providers()]
    assert len(set(names)) == len(names) == 8
    assert all(isinstance(provider, Provider) for provider in default_providers())


@pytest.mark.parametrize("name", ["ready", "Weather", "make"])
def test_a_dotted_path_names_an_instance_a_class_or_a_function(own: str, name: str) -> None:
    assert load_provider(f"{own}:{name}").name == "weather"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("own_weather", "no path of a provider. Write it as 'package.module:name'"),
        ("own_weather:", "no path of a provider"),
        (":ready", "no path of a provider"),
        ("own_weather:absent", "Cannot load the provider 'own_weather:absent'"),
        ("no_such_module:x", "Cannot load the provider"),
        (".relative:x", "no path of a provider"),
        ("own_weather:broken", "failed: no sky"),
        ("own_weather:number", "failed"),
        ("builtins:dict", "is no provider. A provider has a `name`"),
    ],
)
def test_paths_that_lead_to_no_provider_are_told(own: str, path: str, told: str) -> None:
    assert own
    with pytest.raises(SetupError) as refused:
        load_provider(path)
    assert told in str(refused.value)


def test_installed_packages_offer_providers(own: str) -> None:
    entries = [
        EntryPoint("weather", f"{own}:Weather", ENTRY_POINT_GROUP),
        EntryPoint("absent", f"{own}:absent", ENTRY_POINT_GROUP),
        EntryPoint("bang", "broken_module:x", ENTRY_POINT_GROUP),
    ]
    providers, notes = installed_providers(find=lambda group: entries)
    assert [provider.name for provider in providers] == ["weather"]
    assert [note.provider for note in notes] == ["absent", "bang"]
    assert "cannot be loaded: division by zero" in notes[1].text
    assert installed_providers() == ((), ())


def section(name: str) -> Section:
    return Section(name=name, priority=1, text=name)


def test_outcomes_stand_in_the_order_given_whoever_finishes_first(tmp_path: Path) -> None:
    last_first = [threading.Event() for _ in range(5)]
    last_first[-1].set()

    def provider(number: int) -> Provider:
        def provide(_: ContextRequest) -> Provided:
            last_first[number].wait(60)
            if number:
                last_first[number - 1].set()
            return Provided(sections=(section(str(number)),))

        return FunctionProvider(str(number), provide)

    outcomes = Runner().run([provider(number) for number in range(5)], request(tmp_path))
    assert [outcome.provided.sections[0].name for outcome in outcomes if outcome.provided] == list("01234")


def test_slow_and_failing_ones_are_left_out_and_told(tmp_path: Path) -> None:
    forever = threading.Event()

    def hang(_: ContextRequest) -> Provided:
        forever.wait(60)
        return Provided()

    def fail(_: ContextRequest) -> Provided:
        raise RuntimeError("the key sk-abcdefgh12345678 is wrong\nand more")

    providers = [
        FunctionProvider("slow", hang),
        FunctionProvider("failing", fail),
        FunctionProvider("odd", lambda _: None),  # type: ignore[arg-type, return-value]  # a mistake of a user
        FunctionProvider("good", lambda _: Provided()),
    ]
    runner = Runner()
    asked = request(tmp_path, limits=Limits(provider_timeout_s=1.0))
    assert [(outcome.name, outcome.problem) for outcome in runner.run(providers, asked)] == [
        ("slow", "It took longer than 1 s."),
        ("failing", "It failed: RuntimeError: the key [redacted] is wrong and more"),
        ("odd", "It returned NoneType, not Provided."),
        ("good", ""),
    ]
    threads = threading.active_count()
    assert runner.run(providers[:1], asked)[0].problem == "It is still busy with an earlier request."
    assert threading.active_count() == threads
    forever.set()


def test_a_process_ends_while_a_provider_hangs() -> None:
    code = (
        "import threading, pathlib, datetime\n"
        "from cheatsheet.context.providers.provider import ContextRequest, FunctionProvider, Limits\n"
        "from cheatsheet.context.providers.running import Runner\n"
        "hang = FunctionProvider('hang', lambda request: threading.Event().wait())\n"
        "now = datetime.datetime(2026, 1, 5, tzinfo=datetime.UTC)\n"
        "asked = ContextRequest(now=now, home=pathlib.Path('x'), limits=Limits(provider_timeout_s=0.01))\n"
        "print(Runner().run([hang], asked)[0].problem)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "It took longer than 0.01 s.\n"


def test_a_provider_that_is_used_again_is_started_again(tmp_path: Path) -> None:
    runner = Runner()
    good = FunctionProvider("good", lambda _: Provided())
    for _ in range(3):
        assert runner.run([good], request(tmp_path, limits=PATIENT))[0].problem == ""
