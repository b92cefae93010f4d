"""A metadata field as a kernel metadata descriptor declares it."""

from __future__ import annotations

from winnow.metadata import FieldType
from winnow.strict.schema import StrictModel

Scalar = bool | int | float | str


class KmdField(StrictModel):
    """One metadata field. Without a default it is mandatory in every kernel."""

    name: str
    type: FieldType
    default_value: Scalar | list[int] | None = None
