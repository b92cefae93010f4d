"""The manifest's `match:` section: how each field of a problem is compared with a kernel's metadata."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import model_serializer, model_validator

from winnow.errors import nearest
from winnow.strict.schema import StrictModel

_OPERATORS = ("equal", "any", "multiple_of", "at_most")


class Comparison(StrictModel):
    """How one problem field is compared: `equal` or `any`, or `{operator: metadata field}`."""

    operator: Literal["equal", "any", "multiple_of", "at_most"]
    field: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _spelled(cls, value: Any) -> Any:
        if isinstance(value, str):
            if value not in ("equal", "any"):
                raise ValueError(f"no comparison is spelled so; {nearest(value, ('equal', 'any'))}")
            return {"operator": value}
        if not isinstance(value, dict) or len(value) != 1:
            raise ValueError("say equal, any, or one operator with its metadata field, as {multiple_of: tile}")
        ((operator, field),) = value.items()
        if operator not in _OPERATORS or operator == "any" or not isinstance(field, str):
            raise ValueError("say {equal: F}, {multiple_of: F} or {at_most: F} with a metadata field F")
        return {"operator": operator, "field": field}

    @model_serializer
    def _as_spelled(self) -> Any:
        return self.operator if self.field is None else {self.operator: self.field}

    def against(self, field: str) -> str:
        """The metadata field that the problem field `field` is compared with: the one named, else its namesake."""
        return self.field or field
