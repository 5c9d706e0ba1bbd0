"""Pydantic's model without its deprecated `validate`, so that bullets can have a `validate` of their own.

`BaseModel.validate` is a class method that pydantic has given up in favour of `model_validate`. Python lets a subclass
take the name; type checkers would refuse it in every subclass that a user writes. So they are shown this class, which
has what bullets are used for and nothing else. When it runs, it is `BaseModel` itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar, Literal, Self, dataclass_transform

    from pydantic import ConfigDict, Field
    from pydantic.fields import FieldInfo

    @dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field,))
    class FrozenModel:
        """What a frozen pydantic model does, as far as bullets need it."""

        model_config: ClassVar[ConfigDict]
        model_fields: ClassVar[dict[str, FieldInfo]]
        __pydantic_complete__: ClassVar[bool]

        @property
        def model_fields_set(self) -> set[str]: ...

        def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self: ...

        def model_dump(
            self,
            *,
            mode: Literal["python", "json"] = "python",
            include: set[str] | None = None,
            exclude: set[str] | None = None,
            exclude_defaults: bool = False,
            exclude_unset: bool = False,
            exclude_none: bool = False,
        ) -> dict[str, Any]: ...

        def model_dump_json(
            self, *, indent: int | None = None, include: set[str] | None = None, exclude: set[str] | None = None
        ) -> str: ...

        @classmethod
        def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self: ...

        @classmethod
        def model_validate(cls, obj: Any, *, strict: bool | None = None) -> Self: ...

        @classmethod
        def model_validate_json(cls, json_data: str | bytes, *, strict: bool | None = None) -> Self: ...

        @classmethod
        def model_rebuild(
            cls, *, force: bool = False, raise_errors: bool = True, _parent_namespace_depth: int = 2
        ) -> bool | None: ...

else:
    FrozenModel = BaseModel
