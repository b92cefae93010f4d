"""The manifest's `match:` section: how each field of a problem is compared with a kernel's metadata."""

from __future__ import annotations

from typing import Any

from pydantic import model_serializer, model_validator

from winnow.operators import comparison
from winnow.strict.schema import StrictModel


class Comparison(StrictModel):
    """How one problem field is compared: a name of `OPERATORS`, or `{name: metadata field}`."""

    operator: str
    field: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _spelled(cls, value: Any) -> Any:
        operator, field = comparison(value)
        return {"operator": operator, "field": field}

    @model_serializer
    def _as_spelled(self) -> Any:
        return self.operator if self.field is None else {self.operator: self.field}

    def against(self, field: str) -> str:
        """The metadata field that the problem field `field` is compared with: the one named, else its namesake."""
        return self.field or field
