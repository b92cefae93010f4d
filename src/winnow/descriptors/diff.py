"""What differs between two sets of kernels: added, removed, and changed field by field; by name and by metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from winnow.identity import canonical_json

MISSING = "(not stated)"
PARTS = ("name", "arch", "metadata", "priority", "kind", "source", "builder", "spec")
"""What two kernels can differ in; `metadata` and `spec` have fields of their own."""


@dataclass(frozen=True)
class Item:
    """One kernel as far as it can be compared, wherever it was read from.

    `metadata` has its declared defaults filled in. `arch` is what the kernel was written for; None where only the
    devices are known that it was packed for.
    """

    name: str
    kind: str
    source: str
    builder: str
    spec: Mapping[str, Any]
    metadata: Mapping[str, Any]
    priority: int
    arch: tuple[str, ...] | None

    def fields(self) -> dict[str, Any]:
        """Everything that is compared, by dotted name."""
        flat: dict[str, Any] = {
            "kind": self.kind,
            "source": self.source,
            "builder": self.builder,
            "priority": self.priority,
        }
        flat |= {} if self.arch is None else {"arch": sorted(self.arch)}
        flat |= {f"spec.{name}": value for name, value in self.spec.items()}
        return flat | {f"metadata.{name}": value for name, value in self.metadata.items()}


@dataclass(frozen=True)
class Change:
    """One kernel that both sides have. `fields` maps what differs to its value on either side.

    Kernels of different names are one kernel where their metadata and arch are equal: then `name` differs.
    """

    name: str
    fields: Mapping[str, tuple[Any, Any]]


@dataclass(frozen=True)
class Difference:
    """From one set of kernels to another."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Change, ...]
    equal: int

    @property
    def changed_in(self) -> Mapping[str, int]:
        """How many of the changed kernels differ in each of `PARTS`."""
        touched = [{field.partition(".")[0] for field in change.fields} for change in self.changed]
        return {part: sum(part in parts for parts in touched) for part in PARTS}

    def is_subset(self) -> bool:
        """Whether the first set lies in the second, each of its kernels unchanged."""
        return not self.removed and not self.changed

    def is_empty(self) -> bool:
        """Whether the two sets are the same."""
        return self.is_subset() and not self.added

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "added": list(self.added),
            "removed": list(self.removed),
            "changed": [
                {"kernel": change.name, "fields": {field: list(pair) for field, pair in change.fields.items()}}
                for change in self.changed
            ],
            "changed_in": dict(self.changed_in),
            "equal": self.equal,
        }


def difference(ours: Sequence[Item], theirs: Sequence[Item], by: Literal["name", "metadata"] = "name") -> Difference:
    """What it takes to get from `ours` to `theirs`.

    `by` says what makes two kernels the same one first: what is left over is then tried by the other.
    """
    pairs: list[tuple[Item, Item]] = []
    left, right = list(ours), list(theirs)
    keys = {"name": lambda item: item.name, "metadata": _tuple}
    for key in (keys[by], *(own for name, own in keys.items() if name != by)):
        known: dict[str, list[Item]] = {}
        for item in right:
            known.setdefault(key(item), []).append(item)
        rest = []
        for item in left:
            others = known.get(key(item))
            if others:
                pairs.append((item, others.pop(0)))
            else:
                rest.append(item)
        taken = {id(other) for _, other in pairs}
        left, right = rest, [item for item in right if id(item) not in taken]
    compared = [(item, _changes(item, other)) for item, other in pairs]
    return Difference(
        added=tuple(item.name for item in right),
        removed=tuple(item.name for item in left),
        changed=tuple(Change(item.name, fields) for item, fields in compared if fields),
        equal=sum(not fields for _, fields in compared),
    )


def _tuple(item: Item) -> str:
    return canonical_json([dict(item.metadata), None if item.arch is None else sorted(item.arch)])


def _changes(a: Item, b: Item) -> dict[str, tuple[Any, Any]]:
    ours, theirs = {"name": a.name, **a.fields()}, {"name": b.name, **b.fields()}
    if a.arch is None or b.arch is None:
        ours.pop("arch", None)
        theirs.pop("arch", None)
    return {
        field: (ours.get(field, MISSING), theirs.get(field, MISSING))
        for field in {**ours, **theirs}
        if not _same(ours.get(field, MISSING), theirs.get(field, MISSING))
    }


def _same(a: Any, b: Any) -> bool:
    """Equal as JSON: true is not 1."""
    return canonical_json(a) == canonical_json(b)
