"""Which node types a graph may hold: an open table, filled by entry points of the group `winnow.nodes`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from winnow.dtypes import FORMATS
from winnow.plugins import OpenTable

OptionsAt = Literal["attributes", "parameters", "inputs"]


@dataclass(frozen=True)
class NodeKind:
    """One node type: `name` is what a graph's `type` says, `aliases` what older files say.

    Roles of tensors are without the suffix `_tensor_uid`. `options_at` is the section that holds its options, None
    where it has none; `options` is the pydantic model of that section (a `winnow.strict.schema.StrictModel`).
    Registered in the entry-point group `winnow.nodes`, by itself or in an iterable.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    optional_inputs: tuple[str, ...] = ()
    optional_outputs: tuple[str, ...] = ()
    options_at: OptionsAt | None = None
    options: type[Any] | None = None
    aliases: tuple[str, ...] = ()


def kinds_of(offered: object) -> Iterator[NodeKind]:
    """The node types that an entry point offers. Raises TypeError where it offers something else."""
    if isinstance(offered, Iterator):
        raise TypeError("it offers an iterator, which can be read only once; a tuple would do")
    kinds = tuple(offered) if isinstance(offered, Iterable) else (offered,)
    for kind in kinds:
        if not isinstance(kind, NodeKind):
            raise TypeError(f"it offers a value of type {type(kind).__name__}, not a NodeKind")
        yield kind


KINDS: OpenTable[NodeKind] = OpenTable("winnow.nodes", lambda offered: ((k.name, k) for k in kinds_of(offered)))
"""Node types by name."""

ALIASES: OpenTable[str] = OpenTable(
    "winnow.nodes",
    lambda offered: ((alias, kind.name) for kind in kinds_of(offered) for alias in kind.aliases),
    reserved=lambda: KINDS,
)
"""Names of node types by what older files call them."""

DATA_TYPES = (*(row.name for row in FORMATS.values() if row.in_graphs), "unset")

TENSOR_SUFFIX = "_tensor_uid"
