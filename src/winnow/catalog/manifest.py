"""The manifest `engine.yaml`: one file that says how an engine is enumerated, matched, measured and reduced."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_serializer, model_validator

from winnow.catalog.enumerate_section import Coverage, Enumerate
from winnow.catalog.header import Header, header_problem
from winnow.errors import InputError, Place, nearest
from winnow.strict import Document, Key, StrictModel, load_yaml, validate
from winnow.tuning.expression import parse

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


class LaunchSurface(StrictModel):
    """Grid and block as expressions over the problem's fields and the kernel's metadata."""

    grid: tuple[str | int, str | int, str | int] = Field(strict=False)
    block: tuple[str | int, str | int, str | int] = Field(strict=False, default=(1, 1, 1))


class PackLimits(StrictModel):
    """What an object may need at most, beside what its target has; None for no limit. Scratch is in bytes a lane."""

    vgpr_spills: int | None = Field(default=None, ge=0)
    sgpr_spills: int | None = Field(default=None, ge=0)
    scratch_bytes: int | None = Field(default=None, ge=0)

    @property
    def stated(self) -> dict[str, int]:
        """The limits that there are, by the resource's name."""
        return self.model_dump(exclude_none=True)


class Sweep(StrictModel):
    """How variants are measured. Times are in seconds; `controls` are A/A arms, the default measured again.

    `statistic` says which of a round's launches stands for the round: the median, or the minimum where whatever
    disturbs a launch can only add time to it.
    """

    rounds: int = Field(default=6, ge=2)
    min_seconds: float = Field(default=0.002, gt=0)
    min_launches: int = Field(default=3, ge=1)
    max_launches: int = Field(default=25, ge=1)
    controls: int = Field(default=2, ge=1)
    prune_factor: float = Field(default=1.5, gt=1)
    timeout_seconds: float = Field(default=20.0, gt=0)
    statistic: Literal["median", "minimum"] = "median"
    seed: int = 0


class Performance(StrictModel):
    """A metadata field that changes speed only; `divides` names the problem field that it must divide."""

    divides: str | None = None


class Noise(StrictModel):
    """How far from the best still counts as equal: never below `floor`, and as wide as A/A arms differ.

    Sets of kernels whose geometric means differ by no more than `tie` are equal as well: what ships today decides.
    """

    floor: float = Field(default=0.02, ge=0)
    quantile: float = Field(default=0.95, gt=0, lt=1)
    ceiling: float = Field(default=0.10, gt=0)
    tie: float = Field(default=0.005, ge=0)


class ReductionBudget(StrictModel):
    """How many kernels a reduced selection may keep (None: as many as the graphs need)."""

    variants: int | None = Field(default=None, ge=1)


class Reduction(StrictModel):
    """The metadata fields that make a cell, those that only change speed, and what counts as equal."""

    cell: list[str]
    performance: dict[str, Performance]
    noise: Noise = Noise()
    budget: ReductionBudget = ReductionBudget()


class Manifest(Header):
    """Everything about one engine except its kernels."""

    family: str
    enumerate: Enumerate
    coverage: Coverage = Coverage()
    match: dict[str, Comparison]
    launch_surface: LaunchSurface
    pack: PackLimits = PackLimits()
    sweep: Sweep = Sweep()
    reduction: Reduction

    @property
    def slug(self) -> str:
        """Snake case of the engine's local name: the stem of its files."""
        return slug_of(self.engine.name)

    @property
    def allowed_modules(self) -> frozenset[str]:
        """The modules that this manifest names: the only ones that are imported on its behalf."""
        named = {self.enumerate.registry.partition(":")[0]}
        return frozenset(named | {ref.source for ref in self.enumerate.builders.values()})


def slug_of(engine_name: str) -> str:
    """`winnow:GemmCpu` → `gemm_cpu`."""
    local = engine_name.partition(":")[2]
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in local).lstrip("_")
    return snake.replace("-", "_").replace(".", "_")


@dataclass(frozen=True)
class LoadedManifest:
    """A manifest with the document that it came from, for places in later errors."""

    manifest: Manifest
    document: Document
    root: Path

    def place(self, *path: Key) -> Place:
        """Where a key of the manifest stands."""
        return self.document.place(*path)


def load_manifest(path: Path) -> LoadedManifest:
    """Read and check a manifest.

    Raises:
        InputError: unreadable, malformed, an unknown or duplicate key, or a name that nothing declares.
    """
    document = load_yaml(path)
    manifest = validate(Manifest, document)
    problem = header_problem(manifest)
    if problem is not None:
        raise InputError(problem[1], place=document.place(*problem[0]))
    loaded = LoadedManifest(manifest, document, path.parent)
    _check_names(loaded)
    return loaded


def _check_names(loaded: LoadedManifest) -> None:
    manifest = loaded.manifest
    declared = [field.name for field in manifest.kmd_fields]

    def known(name: str, *path: Key) -> None:
        if name not in declared:
            raise InputError(f'"{name}" is not a kmd field', place=loaded.place(*path), cure=nearest(name, declared))

    for name in manifest.enumerate.accessors:
        known(name, "enumerate", "accessors", name)
    for field, rule in manifest.match.items():
        if rule.operator != "any":
            known(rule.against(field), "match", field)
    reduction = manifest.reduction
    for i, name in enumerate(reduction.cell):
        known(name, "reduction", "cell", i)
    for name, performance in reduction.performance.items():
        known(name, "reduction", "performance", name)
        if name in reduction.cell:
            raise InputError(f'"{name}" is in cell as well', place=loaded.place("reduction", "performance", name))
        if performance.divides is not None and performance.divides not in manifest.match:
            raise InputError(
                f'"{performance.divides}" is no field of match',
                place=loaded.place("reduction", "performance", name, "divides"),
                cure=nearest(performance.divides, manifest.match),
            )
    for name in declared:
        if name not in reduction.cell and name not in reduction.performance:
            raise InputError(
                f'kmd field "{name}" is neither in cell nor in performance', place=loaded.place("reduction")
            )
    for key in ("grid", "block"):
        for i, text in enumerate(getattr(manifest.launch_surface, key)):
            if isinstance(text, str):
                parse(text, names={*declared, *manifest.match}, place=loaded.place("launch_surface", key, i))
