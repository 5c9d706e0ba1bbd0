"""Operations: the whole language in which a memory changes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from cheatsheet.memory.bullet import DEFAULT_SECTION
from cheatsheet.memory.values import Moment, Text


class _Operation(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Draft(_Operation):
    """A bullet that has no id yet.

    Attributes:
        created_at, last_used_at, uses: of a bullet that was kept elsewhere before; None: it is made now.
        status: `archived` for what is to be kept but not served.
    """

    section: str = DEFAULT_SECTION
    content: Text
    helpful: int = Field(default=0, ge=0)
    harmful: int = Field(default=0, ge=0)
    sources: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    expires_at: Moment | None = None
    pinned: bool = False
    kind: str = "bullet"
    metadata: dict[str, Any] = Field(default_factory=dict)
    created_at: Moment | None = None
    last_used_at: Moment | None = None
    uses: int = Field(default=0, ge=0)
    status: Literal["active", "archived"] = "active"


class Add(_Operation):
    """A new bullet. `id` is given by the store when the operation is applied; what a caller puts there is ignored."""

    type: Literal["add"] = "add"
    draft: Draft
    id: str = ""


class Update(_Operation):
    """Other words, another section or other properties; None leaves a property as it is."""

    type: Literal["update"] = "update"
    id: str
    content: Text | None = None
    section: str | None = None
    tags: tuple[str, ...] | None = None
    expires_at: Moment | None = None
    pinned: bool | None = None
    metadata: dict[str, Any] | None = None


class Tag(_Operation):
    """Counts: how often it helped, harmed, was used. An experience (`exp-…`) counts its uses only."""

    type: Literal["tag"] = "tag"
    id: str
    helpful: int = Field(default=0, ge=0)
    harmful: int = Field(default=0, ge=0)
    uses: int = Field(default=0, ge=0)


class Merge(_Operation):
    """One bullet takes in others, or a draft that never became a bullet of its own.

    The survivor keeps its id; counters are summed, sources and tags united. `content` replaces its words when given.
    """

    type: Literal["merge"] = "merge"
    into: str
    absorbed: tuple[str, ...] = ()
    draft: Draft | None = None
    content: Text | None = None


class Remove(_Operation):
    """The bullet, or the experience (`exp-…`), is archived: not served any more, not lost."""

    type: Literal["remove"] = "remove"
    id: str
    reason: Text = ""


class Restore(_Operation):
    """An archived bullet, or experience (`exp-…`), is served again; with `state`, a bullet becomes what it once was.

    Attributes:
        state: every property of the bullet as it is to be (`Bullet.model_dump(mode="json")`), whatever its status now.
            This is how a memory is rolled back: forward, by a new entry in its journal.
    """

    type: Literal["restore"] = "restore"
    id: str
    state: dict[str, Any] | None = None


Operation = Annotated[Add | Update | Tag | Merge | Remove | Restore, Field(discriminator="type")]
