"""The descriptor documents of the hipDNN kernel ingestor, as closed schemas with their key order."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from winnow.strict import StrictModel

Scalar = bool | int | float | str
FieldType = Literal["bool", "int", "float", "string", "int_list"]


class _Document(StrictModel):
    version: Literal["1.0"] = "1.0"
    id: str
    name: str


class KmdField(StrictModel):
    """One metadata field. Without a default it is mandatory in every kernel."""

    name: str
    type: FieldType
    default_value: Scalar | list[int] | None = None


class Kmd(_Document):
    """Kernel metadata descriptor: which fields a kernel's metadata has."""

    fields: list[KmdField]


class NativeSymbol(StrictModel):
    """A symbol that native code registers."""

    native: str


class Ued(_Document):
    """Engine descriptor."""

    sdk_version: str
    graph_match: NativeSymbol
    metadata: str
    sort_kernel_catalog: dict[str, str] | None = None
    knobs: list[str] = Field(default_factory=list)
    behavior_notes: list[str] = Field(default_factory=list)
    x_winnow: dict[str, Any] | None = Field(default=None, alias="x-winnow")


class Umd(_Document):
    """Matcher descriptor: a native predicate at graph or kernel scope."""

    scope: Literal["graph", "kernel"]
    match_symbol: str


class Udd(_Document):
    """Dispatch descriptor: a native launch symbol."""

    dispatch_symbol: str


class UhdNative(StrictModel):
    """Body of a heuristic that native code computes."""

    symbol: str


class UhdTable(StrictModel):
    """Body of a heuristic that a file holds; `artifact` is relative to the descriptor."""

    artifact: str
    hash: str | None = None


class Uhd(_Document):
    """Heuristic descriptor: how the kernels that match are ranked."""

    adapter: Literal["native", "table"]
    objective: Literal["max", "min"]
    native: UhdNative | None = None
    table: UhdTable | None = None


class Ukd(_Document):
    """One kernel: its source, its metadata, its priority and where it runs (none stated: where its pack does)."""

    kernel_source: dict[str, Any]
    metadata: dict[str, Scalar | list[int]]
    priority: int
    arch: list[str] | None = None
    provenance: dict[str, Any] | None = None


class Kdp(_Document):
    """Kernel pack: binds matchers, engine and dispatch to a list of kernels."""

    matchers: list[str]
    engine: str
    dispatch: str
    provenance: dict[str, Any] | None = None
    kernels: list[Ukd] = Field(alias="kernelDescriptors")
    arch: list[str]

    def arch_of(self, kernel: Ukd) -> list[str]:
        """The arch list that counts for one of this pack's kernels."""
        return self.arch if kernel.arch is None else kernel.arch


DOCUMENTS: dict[str, type[_Document]] = {
    "kmd": Kmd,
    "ued": Ued,
    "umd": Umd,
    "udd": Udd,
    "uhd": Uhd,
    "kdp": Kdp,
    "ukd": Ukd,
}
"""Document types by the token before `.json` in their files' names."""
