"""`audit`: what is remembered, looked through for what should not be."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cheatsheet.interfaces.cli.options import AsJson, with_settings
from cheatsheet.interfaces.cli.output import print_json, print_note, print_table
from cheatsheet.settings import Settings

# What a command works with is imported when it runs, so that `--help` answers at once.
if TYPE_CHECKING:
    from cheatsheet.memory.audit import Finding, FindingKind

EXIT_FOUND = 1

_ADVICE: dict[FindingKind, str] = {
    "injection": "cheatsheet archive {id}",
    "secret": "cheatsheet archive {id}; change the secret: the journal keeps what was stored",
    "invisible": "cheatsheet archive {id}",
    "oversized": "split it; cheatsheet archive {id}",
}


@with_settings()
def audit(
    everything: Annotated[
        bool, typer.Option("--all", help="Also what is archived, as in quarantine; by default what is served.")
    ] = False,
    longest_chars: Annotated[
        int, typer.Option("--longest", min=1, help="Characters from which on a bullet is too long.")
    ] = 2_000,
    as_json: AsJson = False,
    *,
    settings: Settings,
) -> None:
    """List what looks like instructions, secrets, hidden characters or an overlong bullet; exit code 1 if any."""
    from cheatsheet.memory import audit as scan

    status: Literal["active"] | None = None if everything else "active"
    from cheatsheet.interfaces.stores import open_store

    with closing(open_store(settings)) as store:
        bullets = store.bullets(settings.namespace, status=status)
        experiences = store.experiences(settings.namespace, status=status)
    found = scan.audit(bullets, experiences, longest_chars=longest_chars)
    if as_json:
        print_json([{**asdict(finding), "advice": _advice(finding)} for finding in found])
    else:
        _show(found)
        print_note(f"bullets read: {len(bullets)}, experiences read: {len(experiences)}, findings: {len(found)}")
    if found:
        raise typer.Exit(EXIT_FOUND)


def _show(found: list[Finding]) -> None:
    columns = ("id", "kind", "found", "excerpt", "what to do")
    if found:
        print_table(columns, [(each.id, each.kind, each.found, each.excerpt, _advice(each)) for each in found])


def _advice(finding: Finding) -> str:
    return _ADVICE[finding.kind].format(id=finding.id)
