"""The descriptor documents of the hipDNN kernel ingestor, as closed schemas with their key order."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, SerializerFunctionWrapHandler, StringConstraints, model_serializer, model_validator

from winnow.settings.fields import KmdField, Scalar
from winnow.strict.schema import StrictModel

VERSION: Literal["1.0"] = "1.0"
"""The version that every document states."""

Role = dict[str, str | list[str]]
"""Heuristics by arch (or `default`): one, or one for each metric."""


class _Document(StrictModel):
    """Keys named in `OMITTED` are written only where they were stated."""

    OMITTED: ClassVar[tuple[str, ...]] = ()

    version: Literal["1.0"] = VERSION
    id: str
    name: str

    @model_serializer(mode="wrap")
    def _as_stated(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        record: dict[str, Any] = handler(self)
        for name in self.OMITTED:
            if name not in self.model_fields_set:
                record.pop(name, None)
        return record


class Kmd(_Document):
    """Kernel metadata descriptor: which fields a kernel's metadata has."""

    fields: list[KmdField]


class NativeSymbol(StrictModel):
    """A symbol that native code registers."""

    native: str


class Ued(_Document):
    """Engine descriptor. Of its heuristics it has either roles (by arch) or the older single `heuristic`.

    `others` are extensions of other tools: loaders pass over keys that start with `x-` or `_`.
    """

    OMITTED = ("knobs", "behavior_notes")

    revision: int | str | None = None
    sdk_version: str | None = None
    graph_match: NativeSymbol
    metadata: str
    heuristic: str | None = None
    sort_kernel_catalog: Role | None = None
    predict_engine: Role | None = None
    predict_applicable_kernels: Role | None = None
    knobs: list[str] = Field(default_factory=list)
    behavior_notes: list[str] = Field(default_factory=list)
    numerical_notes: list[str] | None = None
    provenance: dict[str, Any] | None = None
    x_winnow: dict[str, Any] | None = Field(default=None, alias="x-winnow")
    others: dict[str, Any] = Field(default_factory=dict, alias="x-*")

    @model_validator(mode="before")
    @classmethod
    def _gather_extensions(cls, record: Any) -> Any:
        if not isinstance(record, dict):
            return record
        known = {field.alias or name for name, field in cls.model_fields.items()}
        others = {key: v for key, v in record.items() if key.startswith(("x-", "_")) and key not in known}
        return {**{key: v for key, v in record.items() if key not in others}, **({"x-*": others} if others else {})}

    @model_validator(mode="after")
    def _one_style(self) -> Ued:
        if self.heuristic is not None and self.roles:
            raise ValueError("has both heuristic and roles: keep the roles, older loaders alone need heuristic")
        return self

    @model_serializer(mode="wrap")
    def _with_extensions(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        record: dict[str, Any] = self._as_stated(handler)
        others = record.pop("x-*", record.pop("others", {}))
        return {**record, **others}

    @property
    def roles(self) -> dict[str, Role]:
        """The roles that are stated, by name."""
        named = {
            "sort_kernel_catalog": self.sort_kernel_catalog,
            "predict_engine": self.predict_engine,
            "predict_applicable_kernels": self.predict_applicable_kernels,
        }
        return {name: role for name, role in named.items() if role is not None}

    @property
    def heuristics(self) -> tuple[tuple[str, str], ...]:
        """(key, heuristic's id) of every reference to a heuristic, in either style."""
        single = [] if self.heuristic is None else [("heuristic", self.heuristic)]
        by_role = [
            (f"{name}.{arch}", found)
            for name, role in self.roles.items()
            for arch, stated in role.items()
            for found in ([stated] if isinstance(stated, str) else stated)
        ]
        return (*single, *by_role)

    @property
    def ranked(self) -> bool:
        """True where a heuristic decides which of the kernels that match comes first."""
        return self.heuristic is not None or self.sort_kernel_catalog is not None


class Umd(_Document):
    """Matcher descriptor: a native predicate at graph or kernel scope."""

    scope: Literal["graph", "kernel"]
    match_symbol: str


class Udd(_Document):
    """Dispatch descriptor: a native launch symbol."""

    dispatch_symbol: str


class UhdOrder(StrictModel):
    """Body of a heuristic that is a fixed order of kernels."""

    order: list[str]


class UhdNative(StrictModel):
    """Body of a heuristic that native code computes."""

    symbol: str


class UhdTable(StrictModel):
    """Body of a heuristic that a file holds; `artifact` is relative to the descriptor."""

    artifact: str
    hash: str | None = None


class UhdLibrary(StrictModel):
    """Body of a heuristic that a library computes."""

    library: str
    symbol: str
    hash: str | None = None
    config: dict[str, Any] | None = None


class UhdScore(StrictModel):
    """What a learned score is. `units` is how older descriptors said it."""

    metric: Literal["tflops", "time"] | None = None
    calibrated: bool | None = None
    transform: str | None = None
    units: str | None = None


Adapter = Literal["static_order", "native", "tree_data", "table", "onnx", "custom_library"]


class Uhd(_Document):
    """Heuristic descriptor: how kernels are ranked. Of the bodies it has the one of its adapter."""

    BODIES: ClassVar[tuple[str, ...]] = ("static_order", "native", "tree_data", "table", "onnx", "custom_library")

    adapter: Adapter
    objective: Literal["max", "min"] | None = None
    static_order: UhdOrder | None = None
    native: UhdNative | None = None
    tree_data: UhdTable | None = None
    table: UhdTable | None = None
    onnx: UhdTable | None = None
    custom_library: UhdLibrary | None = None
    features_signature: list[str] | None = None
    features_hash: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{16}$")] | None = None
    trained_against: dict[str, Any] | None = None
    categorical_encoding: dict[str, dict[str, int]] | None = None
    score: UhdScore | None = None

    @model_validator(mode="after")
    def _body_of_its_adapter(self) -> Uhd:
        given = [name for name in self.BODIES if getattr(self, name) is not None]
        if given != [self.adapter]:
            raise ValueError(f"the adapter {self.adapter} needs exactly the body {self.adapter}, not {given}")
        return self

    @property
    def artifacts(self) -> tuple[tuple[str, str], ...]:
        """(key, file) of each file that the heuristic needs."""
        tables = {"tree_data": self.tree_data, "table": self.table, "onnx": self.onnx}
        named = [(f"{name}.artifact", body.artifact) for name, body in tables.items() if body is not None]
        library = [] if self.custom_library is None else [("custom_library.library", self.custom_library.library)]
        return (*named, *library)


class Ukd(_Document):
    """One kernel: its source, its metadata, its priority and where it runs (none stated: where its pack does)."""

    OMITTED = ("version",)

    kernel_source: dict[str, Any]
    metadata: dict[str, Scalar | list[int]]
    priority: int
    arch: list[str] | None = None
    provenance: dict[str, Any] | None = None


class Kdp(_Document):
    """Kernel pack: binds matchers, engine and dispatch to a list of kernels. Without arches it runs anywhere."""

    OMITTED = ("arch",)

    matchers: list[str]
    engine: str
    dispatch: str
    provenance: dict[str, Any] | None = None
    kernels: list[Ukd] = Field(alias="kernelDescriptors")
    arch: list[str] = Field(default_factory=list)

    def arch_of(self, kernel: Ukd) -> list[str]:
        """The arch list that counts for one of this pack's kernels."""
        return self.arch if kernel.arch is None else kernel.arch


Document = Kmd | Ued | Umd | Udd | Uhd | Kdp | Ukd

DOCUMENTS: dict[str, type[Document]] = {
    "kmd": Kmd,
    "ued": Ued,
    "umd": Umd,
    "udd": Udd,
    "uhd": Uhd,
    "kdp": Kdp,
    "ukd": Ukd,
}
"""Document types by the token before `.json` in their files' names."""
