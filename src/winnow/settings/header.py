"""The header that a manifest and its selection share: what an engine is, apart from its kernels."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from winnow.settings.fields import KmdField, Scalar
from winnow.settings.sources import kind_problem
from winnow.strict.schema import StrictModel

EngineName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+$")]
Dialect = Literal["packaged", "direct_load"]
WorkspacePolicy = Literal["none", "fixed", "derived"]


class EngineHeader(StrictModel):
    """The engine's name (`namespace:Local`), the hipDNN knobs it offers and how its kernels are ranked."""

    name: EngineName
    sdk_version: str
    heuristic: Literal["native", "none"] = "none"
    knobs: list[str] = Field(default_factory=list)
    behavior_notes: list[Literal["runtime_compilation"]] = Field(default_factory=list)
    native_symbol_namespace: str | None = None
    pack_discriminates: bool | None = None
    """Whether packs are told apart by the graph alone; not said: they are, where native code matches graphs."""


class Binding(StrictModel):
    """Where a metadata field's value is read from a spec: a field, or a method without arguments."""

    field: str | None = None
    method: str | None = None


class Specialization(StrictModel):
    """What the metadata claims that a binary was compiled for, and how to observe it on the spec."""

    metadata_fields: list[str] = Field(default_factory=list)
    matcher_only_fields: list[str] = Field(default_factory=list)
    bindings: dict[str, Binding] = Field(default_factory=dict)
    vocabulary: dict[str, dict[str, Scalar]] = Field(default_factory=dict)

    def spelled(self, field: str, value: Scalar) -> Scalar:
        """A spec's value in the spelling that matchers compare; unchanged where the field has no vocabulary."""
        words = self.vocabulary.get(field)
        return value if words is None else words.get(str(value), value)


class Header(StrictModel):
    """The keys that a manifest and a selection have in common. A gate holds the two together."""

    engine: EngineHeader
    dialect: Dialect = "packaged"
    kernel_source_kind: str
    workspace_policy: WorkspacePolicy = "none"
    kmd_fields: list[KmdField]
    specialization: Specialization

    def header(self) -> Header:
        """Only the shared keys."""
        return Header.model_validate({name: getattr(self, name) for name in Header.model_fields})


def header_problem(header: Header) -> tuple[tuple[str | int, ...], str] | None:
    """The first inconsistency inside a header, as (key path, what is wrong), or None."""
    unknown = kind_problem(header.kernel_source_kind)
    if unknown is not None:
        return ("kernel_source_kind",), unknown
    names = [field.name for field in header.kmd_fields]
    for i, name in enumerate(names):
        if name in names[:i]:
            return ("kmd_fields", i, "name"), f'"{name}" is declared twice'
    types = {field.name: field.type for field in header.kmd_fields}
    for i, knob in enumerate(header.engine.knobs):
        if types.get(knob) != "int":
            return ("engine", "knobs", i), f'"{knob}" is not a kmd field of type int'
    part = header.specialization
    claimed = [*part.metadata_fields, *part.matcher_only_fields]
    for name in claimed:
        if name not in types:
            return ("specialization",), f'"{name}" is not a kmd field'
        if claimed.count(name) > 1:
            return ("specialization",), f'"{name}" is listed twice'
    for name in names:
        if name not in claimed:
            return ("specialization",), f'kmd field "{name}" is neither in metadata_fields nor in matcher_only_fields'
    for name, binding in part.bindings.items():
        if name not in part.metadata_fields:
            return ("specialization", "bindings", name), f'"{name}" is not one of metadata_fields'
        if (binding.field is None) == (binding.method is None):
            return ("specialization", "bindings", name), "name either a field or a method"
    for name in part.metadata_fields:
        if name not in part.bindings:
            return ("specialization", "bindings"), f'metadata field "{name}" has no binding'
    for name in part.vocabulary:
        if name not in types:
            return ("specialization", "vocabulary", name), f'"{name}" is not a kmd field'
    return None


def slug_of(engine_name: str) -> str:
    """`winnow:GemmCpu` → `gemm_cpu`."""
    local = engine_name.partition(":")[2]
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in local).lstrip("_")
    return snake.replace("-", "_").replace(".", "_")
