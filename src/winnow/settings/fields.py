"""A metadata field as a kernel metadata descriptor declares it."""

from __future__ import annotations

from typing import Literal

from winnow.strict.schema import StrictModel

Scalar = bool | int | float | str


FieldType = Literal["bool", "int", "float", "string", "int_list"]


class KmdField(StrictModel):
    """One metadata field. Without a default it is mandatory in every kernel."""

    name: str
    type: FieldType
    default_value: Scalar | list[int] | None = None
