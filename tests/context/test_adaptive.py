"""The adaptive context: what is loaded when, at which priority, in which order, and what is told of the rest."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import pytest

from cheatsheet.context.adaptive import Assembled, assemble, keep
from cheatsheet.context.compiler import Order
from cheatsheet.context.home import create_home
from cheatsheet.context.ledger import render_ledger
from cheatsheet.context.providers.bootstrap import BootstrapProvider
from cheatsheet.context.providers.clock import TimeModeProvider
from cheatsheet.context.providers.daily_log import DailyLogProvider, append_log
from cheatsheet.context.providers.effects import EFFECTS
from cheatsheet.context.providers.entities import EntitiesProvider, EntityStore
from cheatsheet.context.providers.home_files import HomeFilesProvider
from cheatsheet.context.providers.limits import Limits
from cheatsheet.context.providers.provider import ContextRequest, FunctionProvider, Provided, Provider
from cheatsheet.context.providers.runtime import RuntimeFacts, RuntimeProvider
from cheatsheet.context.providers.skills import SkillsProvider
from cheatsheet.context.providers.state import load_state
from cheatsheet.context.providers.time_mode import TimeMode
from cheatsheet.context.providers.workspace import WorkspaceProvider
from cheatsheet.context.section import ChatTurn, Item, Section
from cheatsheet.errors import StoreReadOnlyError, UnknownNameError
from cheatsheet.tokens import CharCounter
from tests.context.providers.worlds import at, repository, request, touch, write
from tests.context.test_golden import matches

HOURS = {"morning": 7, "work": 10, "break": 13, "evening": 19, "night": 23}
BULLETS = Section(
    name="bullets",
    priority=7,
    text="Lessons from earlier work:",
    items=(Item(text="[mail-00001] Answer first.", id="mail-00001"),),
)
EXAMPLES = Section(
    name="experiences", priority=7, turns=(ChatTurn(user="Where?", assistant="crimson", id="exp-00001"),)
)


def ours() -> tuple[Provider, ...]:
    """All our providers, without facts of the machine that runs the tests."""
    return (
        HomeFilesProvider(),
        TimeModeProvider(),
        WorkspaceProvider(),
        SkillsProvider(),
        EntitiesProvider(),
        RuntimeProvider(facts=RuntimeFacts(python="3.11.7", system="Linux x86_64")),
        DailyLogProvider(),
        BootstrapProvider(),
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which everything is there: files, a skill, logs of two days, entities."""
    home = tmp_path / "home"
    create_home(home)
    skill = "---\nname: mail\ndescription: Write a mail.\n---\n"
    write(home, {"skills/mail/SKILL.md": skill, "memory/2026-01-04.md": "# Sunday\n\nRested."})
    write(home, {"memory/2026-01-05.md": "# Monday\n\nMet Anna Schmidt.\n"})
    touch(home / "memory/2026-01-05.md", at("2026-01-05T05:00"))
    EntityStore(home).record("with Anna Schmidt", at("2026-01-04T10:00"))
    return home


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return repository(tmp_path / "shop", {"pyproject.toml": "[project]\nname = 'shop'\ndependencies = ['flask>=3']\n"})


def assembled(home: Path, work: Path | None = None, *, hour: int = 10, **options: Any) -> Assembled:
    asked = request(home, workspace=work, now=at(f"2026-01-05T{hour:02}:30"), query="Where is my parcel?", **options)
    return assemble(asked, ours(), memory_sections=[BULLETS, EXAMPLES])


def priorities(found: Assembled) -> dict[str, int]:
    return {section.name: section.priority for section in found.sections}


# The table of the design


TABLE = {
    "IDENTITY.md": 10, "time-mode": 10, "session": 10, "SOUL.md": 9, "AGENTS.md": 9, "USER.md": 8, "MEMORY.md": 7,
    "bullets": 7, "experiences": 7, "TOOLS.md": 6, "workspace": 6, "skills": 5, "runtime": 5, "entities": 5,
    "HEARTBEAT.md": 4, "log-today": 3, "BOOTSTRAP.md": 2,
}  # fmt: skip


@pytest.mark.parametrize(
    ("mode", "difference"),
    [
        ("morning", {"log-yesterday": 2}),
        ("work", {"skills": 6}),
        ("break", {"workspace": 4, "skills": 3, "TOOLS.md": None, "HEARTBEAT.md": None}),
        ("evening", {}),
    ],
)
def test_sections_and_priorities_by_the_part_of_the_day(
    home: Path, work: Path, mode: str, difference: dict[str, int | None]
) -> None:
    expected = {name: priority for name, priority in (TABLE | difference).items() if priority is not None}
    found = assembled(home, work, hour=HOURS[mode])
    assert found.time_mode == mode
    assert priorities(found) == expected
    assert [section.priority for section in found.sections] == sorted(expected.values(), reverse=True)


def test_the_night_has_only_the_core_and_what_was_learnt(home: Path, work: Path) -> None:
    found = assembled(home, work, hour=HOURS["night"])
    assert [section.name for section in found.sections] == [
        "IDENTITY.md",
        "time-mode",
        "session",
        "SOUL.md",
        "USER.md",
        "bullets",
        "experiences",
    ]
    left_out = {entry.section: entry.reason for entry in found.left_out}
    assert left_out.keys() >= {"workspace", "skills", "entities", "daily-log", "AGENTS.md", "MEMORY.md", "TOOLS.md"}
    assert set(left_out.values()) == {"The time mode 'night' does not load it."}


def test_within_a_priority_what_seldom_changes_comes_first(home: Path, work: Path) -> None:
    names = [section.name for section in assembled(home, work, hour=HOURS["morning"]).sections]
    assert names.index("TOOLS.md") < names.index("workspace")
    assert names.index("time-mode") < names.index("session")
    assert names.index("MEMORY.md") < names.index("bullets") < names.index("experiences")
    assert names.index("log-today") < names.index("log-yesterday")


def test_every_part_of_the_day_has_an_effect() -> None:
    assert EFFECTS.keys() == set(TimeMode)


def test_a_minimal_context_is_for_sub_agents(home: Path, work: Path) -> None:
    """Also at night; and it takes no note of what changed, as that concerns the main agent."""
    keep(home, assembled(home), at("2026-01-05T10:00"))
    write(home, {"SOUL.md": "changed"})
    for hour in HOURS.values():
        found = assembled(home, work, hour=hour, mode="minimal")
        assert [section.name for section in found.sections] == [
            "sub-agent",
            "IDENTITY.md",
            "SOUL.md",
            "AGENTS.md",
            "USER.md",
            "bullets",
            "experiences",
            "runtime",
        ]
        assert keep(home, found, at("2026-01-05T10:00")) == ()
    assert "your character has evolved" in session(assembled(home))


def session(found: Assembled) -> str:
    return next(section.text for section in found.sections if section.name == "session")


# Sessions


def test_a_fresh_session(home: Path) -> None:
    text = session(assembled(home, hour=HOURS["morning"]))
    assert "Good morning! A new day: Monday, 2026-01-05." in text
    assert "A new session begins." in text
    assert "It is the first one in this home." in text
    assert "Good morning" not in session(assembled(home))


def test_a_session_that_goes_on(home: Path) -> None:
    """No greeting, no new-session note, no first-run instructions; the last activity is told."""
    log = home / "memory/2026-01-05.md"
    log.write_text("x" * 101, encoding="utf-8")
    touch(log, at("2026-01-05T07:25"))
    found = assembled(home, hour=HOURS["morning"])
    assert found.continuation.is_continuation
    assert session(found) == (
        "# Session\n\nThe session goes on; last activity 5 minutes ago. Go on where the log of today ends; do not "
        "greet again."
    )
    assert "BOOTSTRAP.md" not in priorities(found)
    assert "BOOTSTRAP.md" in priorities(assembled(home))  # three hours later


# What changed


def test_changes_are_told_once_and_over_processes(home: Path) -> None:
    now = at("2026-01-05T10:30")
    first = assembled(home)
    assert not first.changes
    keep(home, first, now)
    write(home, {"SOUL.md": "warmer", "USER.md": "Anna", "skills/new/SKILL.md": "---\nname: n\ndescription: d\n---\n"})
    (home / "skills/mail/SKILL.md").unlink()
    code = (
        "import sys, pathlib, datetime\n"
        "from cheatsheet.context.adaptive import assemble, keep\n"
        "from cheatsheet.context.providers.provider import ContextRequest, Limits\n"
        "home, now = pathlib.Path(sys.argv[1]), datetime.datetime(2026, 1, 5, 10, 30, tzinfo=datetime.UTC)\n"
        "found = assemble(ContextRequest(now=now, home=home, limits=Limits(provider_timeout_s=60)))\n"
        "print(*[note.text for note in found.notes if note.kind == 'change'], sep='\\n')\n"
        "keep(home, found, now)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(home)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "SOUL.md changed: your character has evolved.",
        "USER.md changed: the user's preferences were updated.",
        "The skill mail is gone.",
        "The skill new was discovered.",
    ]
    assert not assembled(home).changes


def test_what_was_not_asked_did_not_change(home: Path) -> None:
    """At night nobody looks at the skills; a late provider has seen nothing. Neither makes them gone."""
    now = at("2026-01-05T23:30")
    keep(home, assembled(home), now)
    night = assembled(home, hour=HOURS["night"])
    assert not night.changes
    keep(home, night, now)
    never = threading.Event()

    def hang(_: ContextRequest) -> Provided:
        never.wait(60)
        return Provided()

    hanging = FunctionProvider("skills", hang)
    late = assemble(request(home, limits=Limits(provider_timeout_s=0.3)), [hanging, HomeFilesProvider()])
    assert not late.changes
    keep(home, late, now)
    never.set()
    write(home, {"skills/mail/SKILL.md": "changed"})
    assert [note.text for note in assembled(home).notes if note.kind == "change"] == [
        "The skill mail was updated; read it again."
    ]


def test_names_are_taken_from_what_is_new_in_the_log(home: Path) -> None:
    now = at("2026-01-05T10:30")
    assert {entity.name for entity in keep(home, assembled(home), now)} == {"Anna Schmidt"}
    append_log(home, now, "talked to Bob Miller")
    found = assembled(home)
    assert {entity.name: entity.count for entity in keep(home, found, now)} == {"Bob Miller": 1}
    assert keep(home, found, now) == ()
    append_log(home, now + timedelta(days=1), "again with Bob Miller")
    assert [entity.count for entity in keep(home, assembled(home), now + timedelta(days=1))] == [2]
    assert {entity.name: entity.count for entity in EntityStore(home).all()} == {"Anna Schmidt": 2, "Bob Miller": 2}


def test_a_log_that_was_tidied_is_counted_from_there(home: Path) -> None:
    now = at("2026-01-05T10:30")
    keep(home, assembled(home), now)
    write(home, {"memory/2026-01-05.md": "# Monday\n"})
    assert keep(home, assembled(home), now) == ()
    append_log(home, now, "with Carol")
    assert {entity.name for entity in keep(home, assembled(home), now)} == {"Carol"}


def test_a_long_log_is_to_be_distilled(home: Path) -> None:
    found = assembled(home, limits=Limits(provider_timeout_s=60, log_bytes=10))
    assert "To take care of:\n- The log of 2026-01-05 has " in session(found)


# Damage


def test_damaged_files_are_reported_and_the_rest_is_loaded(home: Path) -> None:
    write(home, {"SOUL.md": b"caf\xe9", "USER.md": "", "MEMORY.md": "x" * 300_000})
    (home / "TOOLS.md").unlink()
    (home / "TOOLS.md").mkdir()
    (home / "HEARTBEAT.md").unlink()
    write(home, {"state.json": "{"})
    found = assembled(home)
    assert [note.text for note in found.notes if note.kind in ("health", "damaged")] == [
        "state.json cannot be understood; changes are told from the next time on.",
        "HEARTBEAT.md is not there.",
        "MEMORY.md has 300,000 bytes, of which 262,144 are read.",
        "SOUL.md is not UTF-8; what cannot be read is shown as �.",
        "TOOLS.md is no regular file.",
        "USER.md is empty.",
    ]
    care = session(found).partition("To take care of:\n")[2].splitlines()
    assert [line.split()[1] for line in care] == ["MEMORY.md", "SOUL.md", "TOOLS.md"]
    assert priorities(found).keys() >= {"IDENTITY.md", "SOUL.md", "MEMORY.md"}


def test_an_absent_home_is_never_in_the_way(tmp_path: Path, work: Path) -> None:
    found = assembled(tmp_path / "absent", work)
    assert list(priorities(found)) == ["time-mode", "session", "bullets", "experiences", "workspace", "runtime"]
    assert [note.text for note in found.notes] == [
        f"The home {tmp_path / 'absent'} is not there yet; `cheatsheet init` makes it from templates."
    ]
    assert not (tmp_path / "absent").exists()
    keep(tmp_path / "absent", found, at("2026-01-05T10:30"))
    assert (tmp_path / "absent").stat().st_mode & 0o777 == 0o700
    assert not load_state(tmp_path / "absent")[0].is_first


def test_a_home_that_cannot_be_written_is_told_and_read(tmp_path: Path) -> None:
    write(tmp_path, {"home": "a file"})
    found = assembled(tmp_path / "home")
    with pytest.raises(StoreReadOnlyError):
        keep(tmp_path / "home", found, at("2026-01-05T10:30"))


# Providers of users, slow and failing ones


def test_providers_that_fail_or_are_late_stand_in_the_ledger(tmp_path: Path) -> None:
    never = threading.Event()

    def hang(_: ContextRequest) -> Provided:
        never.wait(60)
        return Provided()

    providers = [
        FunctionProvider("slow", hang),
        FunctionProvider("broken", lambda _: 1 / 0),  # type: ignore[arg-type, return-value]  # a mistake of a user
        FunctionProvider("good", lambda _: Provided(sections=(Section(name="weather", priority=5, text="Sunny."),))),
    ]
    found = assemble(request(tmp_path, limits=Limits(provider_timeout_s=1.0)), providers)
    never.set()
    context = found.compiled(budget_tokens=500, counter=CharCounter(4))
    assert [(entry.section, entry.action, entry.reason) for entry in context.ledger[-2:]] == [
        ("slow", "left-out", "It took longer than 1 s."),
        ("broken", "left-out", "It failed: ZeroDivisionError: division by zero"),
    ]
    assert "Sunny." in context.text
    assert sum(entry.got_tokens for entry in context.ledger) == context.tokens
    assert "It took longer than 1 s." in render_ledger(context.ledger, context.budget)
    assert [note.kind for note in found.notes if note.provider in ("slow", "broken")] == ["left-out", "left-out"]


def test_names_that_are_taken_are_told(home: Path) -> None:
    def named(name: str) -> Provider:
        return FunctionProvider(
            f"own {name}", lambda _: Provided(sections=(Section(name=name, priority=9, text="mine"),))
        )

    own = [named("IDENTITY.md"), named("session"), named("bullets"), named("news")]
    found = assemble(request(home), [*ours(), *own], memory_sections=[BULLETS])
    assert [section.text for section in found.sections].count("mine") == 1
    assert [(entry.section, entry.reason.split("'")[1]) for entry in found.left_out] == [
        ("IDENTITY.md", "own IDENTITY.md"),
        ("session", "own session"),
        ("bullets", "own bullets"),
    ]


def test_providers_of_users_are_not_loaded_at_night_nor_by_sub_agents(home: Path) -> None:
    own = FunctionProvider("own", lambda _: Provided(sections=(Section(name="news", priority=9, text="mine"),)))
    for options in ({"now": at("2026-01-05T23:00")}, {"mode": "minimal"}):
        found = assemble(request(home, **options), [*ours(), own])
        assert "news" not in priorities(found)
        assert "own" in {entry.section for entry in found.left_out}


def test_unknown_modes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown context mode 'ful'\. Did you mean 'full'"):
        assemble(request(tmp_path, mode="ful"))


# The same bytes


def test_the_same_inputs_give_the_same_bytes_whoever_finishes_first(home: Path, work: Path) -> None:
    """Each provider waits for the one behind it, and then for the one before it."""

    def chained(*, reverse: bool) -> str:
        providers = ours()
        order = range(len(providers))[:: -1 if reverse else 1]
        done = {number: threading.Event() for number in order}
        before = dict(zip(order, [None, *order], strict=False))

        def provider(number: int) -> Provider:
            def provide(asked: ContextRequest) -> Provided:
                earlier = before[number]
                if earlier is not None:
                    done[earlier].wait(60)
                provided = providers[number].provide(asked)
                done[number].set()
                return provided

            return FunctionProvider(providers[number].name, provide)

        found = assemble(
            request(home, workspace=work), [provider(n) for n in range(len(providers))], memory_sections=[BULLETS]
        )
        context = found.compiled(budget_tokens=900, counter=CharCounter(4))
        return context.text + render_ledger(context.ledger, context.budget) + repr(found.notes)

    texts = {chained(reverse=reverse) for reverse in (False, True, False)}
    assert len(texts) == 1


def test_never_over_budget_in_any_order(home: Path, work: Path) -> None:
    found = assembled(home, work, hour=HOURS["morning"])
    for budget in (0, 1, 10, 100, 400, 1_000, 8_000):
        for order in get_args(Order):
            context = found.compiled(budget_tokens=budget, counter=CharCounter(4), order=order)
            assert context.tokens <= budget
            assert sum(entry.got_tokens for entry in context.ledger) == context.tokens


def test_in_the_order_for_caches_what_changes_stands_last(home: Path, work: Path) -> None:
    found = assembled(home, work)
    context = found.compiled(budget_tokens=8_000, counter=CharCounter(4), order="cache")
    stable = [section.stable for section in context.shown]
    assert stable == sorted(stable, reverse=True)
    assert {section.name for section in context.shown if not section.stable} == {
        "session",
        "bullets",
        "experiences",
        "workspace",
        "entities",
        "log-today",
    }
    later = assemble(
        request(home, workspace=work, now=at("2026-01-05T11:45"), query="And now?"), ours(), memory_sections=[]
    ).compiled(budget_tokens=8_000, counter=CharCounter(4), order="cache")
    start = context.text.index("# Session")
    assert later.text.startswith(context.text[:start])


def test_contexts_as_they_are_read(home: Path, work: Path) -> None:
    """A morning in a project, and a night; golden files, reviewed as prose."""
    write(
        home,
        {
            "IDENTITY.md": "You are Pim.",
            "SOUL.md": "Be brief.",
            "USER.md": "Anna, who sorts parcels.",
            "AGENTS.md": "Ask first.",
        },
    )
    write(home, {"MEMORY.md": "Amber is for refunds.", "TOOLS.md": "make test", "HEARTBEAT.md": "Is a parcel late?"})
    write(home, {"BOOTSTRAP.md": "Ask for a name."})
    for hour, name in ((HOURS["morning"], "morning"), (HOURS["night"], "night")):
        found = assembled(home, work, hour=hour)
        context = found.compiled(budget_tokens=8_000, counter=CharCounter(4))
        text = f"{context.text}\n\n=====\n\n{render_ledger(context.ledger, context.budget)}"
        assert matches(f"context_{name}.txt", text)
