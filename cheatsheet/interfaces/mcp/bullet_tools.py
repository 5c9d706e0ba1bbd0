"""Tools for single bullets: looked for, listed, added, changed, removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from cheatsheet.errors import OperationError
from cheatsheet.interfaces.cli.turns import describe
from cheatsheet.interfaces.mcp.desk import Desk
from cheatsheet.interfaces.mcp.results import BulletInfo, BulletPage, ChangeResult
from cheatsheet.memory.bullet import DEFAULT_SECTION, section_key
from cheatsheet.memory.history.journal import Committed
from cheatsheet.memory.operations import Add, Draft, Merge, Operation, Remove, Tag, Update

SOURCE = "mcp"
"""Where bullets come from that an agent added by hand."""

BulletId = Annotated[str, Field(min_length=1, max_length=100, description="Id of a bullet, such as calc-00012.")]
Content = Annotated[
    str,
    Field(
        min_length=1,
        max_length=20_000,
        description="One piece of advice that stands on its own: when it applies, and what to do then.",
    ),
]
NewContent = Annotated[
    str | None,
    Field(min_length=1, max_length=20_000, description="The advice in other words, with all of it that still holds."),
]
Section = Annotated[
    str, Field(min_length=1, max_length=200, description="The heading that it belongs to, such as common_mistakes.")
]
NewSection = Annotated[str | None, Field(min_length=1, max_length=200, description="Another heading.")]
Tags = Annotated[list[str] | None, Field(max_length=20, description="Words to find it by.")]
NewTags = Annotated[list[str] | None, Field(max_length=20, description="All of its tags, in place of the old ones.")]
Pinned = Annotated[bool, Field(description="Never to be archived by the memory itself.")]
NewPinned = Annotated[bool | None, Field(description="Whether it is never to be archived by the memory itself.")]
Vote = Annotated[
    Literal["helpful", "harmful"] | None, Field(description="Count that it helped you, or that it misled you.")
]
Limit = Annotated[int, Field(ge=1, le=100, description="At most so many bullets.")]


class BulletTools:
    """The tools, over a desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def search_bullets(
        self,
        query: Annotated[str, Field(min_length=1, max_length=20_000, description="What the advice should be about.")],
        limit: Limit = 10,
        min_score: Annotated[float, Field(ge=-1, le=1, description="The lowest cosine; 0.3 is loosely related.")] = 0.0,
    ) -> BulletPage:
        """Find the bullets that are nearest to a text in meaning, the nearest first, with their ids and counters.

        Call it before `add_bullet`, to see whether the advice is known, and to get the id of a bullet that you want to
        change. To answer a question use `recall` instead.
        """
        memory = self._desk.engine.get().memory
        found = memory.relevant_bullets(query, limit, min_score=min_score)
        return BulletPage.of((BulletInfo.of(hit.value, hit.score) for hit in found), offset=0, more=False)

    def list_bullets(
        self,
        section: Annotated[str | None, Field(max_length=200, description="Only this section.")] = None,
        order: Annotated[
            Literal["id", "utility", "worst", "recent"],
            Field(description="By id, the most or the least useful first, or the latest change first."),
        ] = "id",
        status: Annotated[
            Literal["active", "archived", "merged"], Field(description="Only active bullets are shown to agents.")
        ] = "active",
        limit: Limit = 50,
        offset: Annotated[int, Field(ge=0, le=1_000_000, description="So many are left out at the beginning.")] = 0,
    ) -> BulletPage:
        """List bullets page by page, with their ids and counters.

        Call it to look the memory through, as when tidying up. To find something use `search_bullets`.
        """
        found = self._desk.engine.get().memory.bullets(
            status=status, section=section_key(section) if section else None, order=order, limit=offset + limit + 1
        )
        page = found[offset : offset + limit]
        return BulletPage.of(map(BulletInfo.of, page), offset=offset, more=len(found) > offset + limit)

    def add_bullet(
        self, content: Content, section: Section = DEFAULT_SECTION, tags: Tags = None, pinned: Pinned = False
    ) -> ChangeResult:
        """Add a piece of advice by hand; what is known already is merged with it.

        Call it when the user states a rule or a fact that should last, or asks you to remember something. What follows
        from an answered question is better told to `learn`. Do not put passwords, keys or private data into it.
        """
        draft = Draft(content=content, section=section, tags=tuple(tags or ()), pinned=pinned, sources=(SOURCE,))
        return self._change([Add(draft=draft)])

    def update_bullet(
        self,
        id: BulletId,
        content: NewContent = None,
        section: NewSection = None,
        tags: NewTags = None,
        pinned: NewPinned = None,
        vote: Vote = None,
    ) -> ChangeResult:
        """Change a bullet's words, section, tags or pin, or vote on it; what is not given stays.

        Call it when a bullet is outdated, imprecise or in the wrong place. New words keep what still holds: an update
        that drops most of what a bullet said is refused. To take it away use `remove_bullet`.
        """
        operations: list[Operation] = []
        if any(value is not None for value in (content, section, tags, pinned)):
            given = None if tags is None else tuple(tags)
            operations.append(Update(id=id, content=content, section=section, tags=given, pinned=pinned))
        if vote is not None:
            operations.append(Tag(id=id, helpful=int(vote == "helpful"), harmful=int(vote == "harmful")))
        if not operations:
            raise OperationError("There is nothing to change. Give content, section, tags, pinned or vote.")
        self._check_active(id)
        return self._change(operations)

    def remove_bullet(
        self,
        id: BulletId,
        reason: Annotated[str, Field(min_length=1, max_length=2_000, description="Why; it is kept with the bullet.")],
    ) -> ChangeResult:
        """Take a bullet out of service. It is archived, not lost: a person can restore it.

        Call it for advice that is wrong, or that another bullet says better. Where it only needs other words, use
        `update_bullet`.
        """
        self._check_active(id)
        return self._change([Remove(id=id, reason=reason)])

    def _check_active(self, id: str) -> None:
        """Refuse what cannot be done before it leaves an entry in the journal."""
        bullet = self._desk.engine.get().memory.bullet(id)
        if bullet is None:
            raise OperationError(f"There is no bullet {id!r} in this memory; search_bullets finds ids.")
        if bullet.status != "active":
            raise OperationError(f"Bullet {id!r} is {bullet.status}; only active bullets are changed here.")

    def _change(self, operations: Sequence[Operation]) -> ChangeResult:
        """Change the memory, judged by the guard as all that does not come from a person.

        Raises:
            OperationError: nothing of what was asked for was done; the message says why.
        """
        engine = self._desk.engine.get()
        committed = engine.apply(operations, cause="agent")
        notes = list(dict.fromkeys([*committed.skipped, *committed.entry.notes]))
        id = _changed(operations, committed)
        if id is None:
            raise OperationError(" ".join(["Nothing was changed.", *notes]))
        bullet = engine.memory.bullet(id)
        return ChangeResult(
            bullet=None if bullet is None else BulletInfo.of(bullet),
            changes=[describe(operation) for operation in committed.entry.operations],
            notes=notes,
            version=committed.entry.version,
        )


def _changed(asked: Sequence[Operation], committed: Committed) -> str | None:
    """The id of the bullet that was changed as it was asked for, or None where nothing of it was done."""
    for operation in committed.entry.operations:
        if isinstance(asked[0], Add) and isinstance(operation, Merge):
            return operation.into
        if isinstance(asked[0], Add) and isinstance(operation, Add) and operation.draft.status == "active":
            return operation.id
        if isinstance(operation, Update | Tag | Remove) and any(type(operation) is type(one) for one in asked):
            return operation.id
    return None
