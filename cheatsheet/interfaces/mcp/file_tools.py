"""Tools for the memory as a whole: today's log, playbooks in and out, its size."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from cheatsheet.errors import OperationError
from cheatsheet.interfaces.mcp.desk import Desk
from cheatsheet.interfaces.mcp.results import ExportResult, ImportResult, StatsResult
from cheatsheet.memory.bullet import section_key

MAX_PLAYBOOK_CHARS: Final = 2_000_000

Format = Annotated[
    str, Field(max_length=40, description="Name of a format, such as json, ace, dc or markdown; auto recognises it.")
]


class FileTools:
    """The tools, over a desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def log(
        self,
        text: Annotated[
            str, Field(min_length=1, max_length=10_000, description="What was done or decided, in a few sentences.")
        ],
    ) -> str:
        """Write an entry into today's log, under the time of day.

        Call it when a piece of work is done, a decision is made, or something is left open for later. The log of the
        day is part of the context of the next session. What should last belongs into `learn` or `add_bullet`.
        """
        return f"Written into {self._desk.append_log(text)}."

    def import_playbook(
        self,
        text: Annotated[
            str, Field(min_length=1, max_length=MAX_PLAYBOOK_CHARS, description="The playbook itself, not its path.")
        ],
        format: Format = "auto",
        name: Annotated[str, Field(max_length=200, description="Where it comes from, such as the file's name.")] = "",
        tags: Annotated[list[str] | None, Field(max_length=20, description="Given to every new bullet.")] = None,
        dry_run: Annotated[bool, Field(description="Only tell what would happen.")] = False,
    ) -> ImportResult:
        """Learn every piece of advice in a playbook of another project or person; what is known already is merged.

        Call it when the user asks for it, first with dry_run=true, and show what would happen.
        """
        engine = self._desk.engine.get()
        # An agent chooses the name, and must not pose as a source that is trusted.
        source = f"mcp:{name}" if name else "mcp"
        imported = engine.import_playbook(text, format=format, tags=tuple(tags or ()), dry_run=dry_run, name=source)
        return ImportResult.of(imported)

    def export_playbook(
        self,
        format: Format = "json",
        section: Annotated[str | None, Field(max_length=200, description="Only this section.")] = None,
    ) -> ExportResult:
        """Write the active bullets as a playbook, to be kept or given to others; it tells what the format loses.

        Call it when the user asks for it. To read bullets use `list_bullets`, which gives them page by page.
        """
        engine = self._desk.engine.get()
        bullets = engine.memory.bullets(section=section_key(section) if section else None)
        written = engine.export_playbook(format=format, bullets=bullets)
        if len(written.text) > MAX_PLAYBOOK_CHARS:
            raise OperationError(
                f"The playbook has {len(written.text):,} characters; at most {MAX_PLAYBOOK_CHARS:,} are given out. "
                f"Export one section, or use `cheatsheet export`."
            )
        return ExportResult(text=written.text, bullets=len(bullets), lost=list(written.lost))

    def stats(self) -> StatsResult:
        """Tell how many bullets and experiences the memory has, in which mode it is, and what was counted so far.

        Call it when the user asks about the memory itself.
        """
        engine = self._desk.engine.get()
        sizes = engine.stats()
        return StatsResult(
            bullets=sizes.bullets,
            archived=sizes.archived,
            merged=sizes.merged,
            experiences=sizes.experiences,
            version=sizes.version,
            mode=engine.mode.name,
            measures=engine.measures(),
        )
