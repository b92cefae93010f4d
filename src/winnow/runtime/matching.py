"""Which kernels serve a problem: comparisons of the problem's fields with a kernel's metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from winnow.families.adapter import Field
from winnow.operators import OPERATORS


@dataclass(frozen=True)
class Matcher:
    """Which metadata field each problem field is compared with, and how."""

    rules: tuple[tuple[str, str, str], ...]
    """(problem field, operator, metadata field)"""

    def refusal(self, metadata: Mapping[str, Any], fields: Mapping[str, Field]) -> str | None:
        """Why a kernel with this metadata does not serve a problem with these fields, or None when it does."""
        return next(self.misses(metadata, fields), None)

    def misses(self, metadata: Mapping[str, Any], fields: Mapping[str, Field]) -> Iterator[str]:
        """Every comparison that fails between a kernel with this metadata and a problem with these fields."""
        for field, name, other in self.rules:
            operator = OPERATORS[name]
            if operator.admits is None:
                continue
            if field not in fields:
                yield f"the graph says no {field}"
                continue
            asked, offered = fields[field], metadata[other]
            if not operator.admits(asked, offered):
                yield f"{field}={asked} is not {operator.words} {other}={offered}"
