"""What a candidate can serve, as data: a superset of what its predicate accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import Any

_RELATIONS: Mapping[str, Callable[[int, int], bool]] = {
    "==": eq,
    "!=": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
    "multiple_of": lambda lhs, rhs: rhs != 0 and lhs % rhs == 0,
}


@dataclass(frozen=True)
class ShapeRange:
    """Bounds on one dim or on each of several. A bound that is None, or an empty `allowed`, does not bind."""

    dims: str | frozenset[str]
    min: int | None = None
    max: int | None = None
    multiple_of: int | None = None
    allowed: tuple[int, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The dims bound here, sorted."""
        return (self.dims,) if isinstance(self.dims, str) else tuple(sorted(self.dims))

    def refusal(self, dims: Mapping[str, int]) -> str | None:
        """Why these sizes are outside, or None. Each dim in sorted order: missing, allowed, min, max, multiple."""
        for name in self.names:
            if name not in dims:
                return f"dim {name} is missing"
            value = dims[name]
            if self.allowed and value not in self.allowed:
                return f"{name}={value} is not one of {list(self.allowed)}"
            if self.min is not None and value < self.min:
                return f"{name}={value} is below {self.min}"
            if self.max is not None and value > self.max:
                return f"{name}={value} is above {self.max}"
            if self.multiple_of is not None and value % self.multiple_of != 0:
                return f"{name}={value} is not a multiple of {self.multiple_of}"
        return None

    def as_dict(self) -> dict[str, Any]:
        """Plain data with the fields that are set."""
        bounds = {"min": self.min, "max": self.max, "multiple_of": self.multiple_of}
        shown: dict[str, Any] = {"dims": list(self.names)}
        shown |= {key: value for key, value in bounds.items() if value is not None}
        return shown | ({"allowed": list(self.allowed)} if self.allowed else {})


@dataclass(frozen=True)
class DimRelation:
    """A relation between two dims, or a dim and a number. `op` is one of == != < <= > >= multiple_of."""

    lhs: str
    op: str
    rhs: str | int

    def __post_init__(self) -> None:
        if self.op not in _RELATIONS:
            raise ValueError(f"unknown operator {self.op!r}; known: {' '.join(_RELATIONS)}")

    @property
    def names(self) -> tuple[str, ...]:
        """The dims that the relation reads."""
        return (self.lhs, self.rhs) if isinstance(self.rhs, str) else (self.lhs,)

    def refusal(self, dims: Mapping[str, int]) -> str | None:
        """Why the relation does not hold, or None."""
        for name in self.names:
            if name not in dims:
                return f"dim {name} is missing"
        rhs = dims[self.rhs] if isinstance(self.rhs, str) else self.rhs
        if _RELATIONS[self.op](dims[self.lhs], rhs):
            return None
        return f"{self.lhs} {self.op} {self.rhs} does not hold ({dims[self.lhs]}, {rhs})"

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"lhs": self.lhs, "op": self.op, "rhs": self.rhs}


@dataclass(frozen=True)
class Capability:
    """What a candidate can serve. An empty field does not constrain, except `arches`: none means nowhere."""

    arches: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    shapes: tuple[ShapeRange, ...] = ()
    relations: tuple[DimRelation, ...] = ()
    supports_features: frozenset[str] = frozenset()
    requires_features: frozenset[str] = frozenset()

    @property
    def bounds(self) -> tuple[ShapeRange | DimRelation, ...]:
        """Shapes, then relations: the order in which they are checked."""
        return (*self.shapes, *self.relations)

    @property
    def dim_names(self) -> frozenset[str]:
        """Every dim that the capability reads."""
        return frozenset(name for part in self.bounds for name in part.names)

    def refusal(self, request: Any) -> str | None:
        """The first reason for which the request is outside, or None when it is inside."""
        if request.arch not in self.arches:
            return f"arch {request.arch} is not one of {list(self.arches)}"
        dtype = request.dtype.lower()
        if self.dtypes and dtype not in {d.lower() for d in self.dtypes}:
            return f"dtype {dtype} is not one of {list(self.dtypes)}"
        layout = getattr(request, "layout", "").upper()
        if self.layouts and layout not in {name.upper() for name in self.layouts}:
            return f"layout {layout} is not one of {list(self.layouts)}"
        dims = request.dims()
        for part in self.bounds:
            reason = part.refusal(dims)
            if reason is not None:
                return reason
        features = request.features()
        missing = sorted(self.requires_features - features)
        if missing:
            return f"needs the feature {missing[0]}"
        excess = sorted(features - self.supports_features - self.requires_features)
        return f"does not support the feature {excess[0]}" if excess else None

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "arches": list(self.arches),
            "dtypes": list(self.dtypes),
            "layouts": list(self.layouts),
            "shapes": [shape.as_dict() for shape in self.shapes],
            "relations": [relation.as_dict() for relation in self.relations],
            "supports_features": sorted(self.supports_features),
            "requires_features": sorted(self.requires_features),
        }
