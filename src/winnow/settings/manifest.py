"""The manifest `engine.yaml`: one file that says how an engine is enumerated, matched, measured and reduced."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from winnow.errors import InputError, Place, nearest
from winnow.settings.coverage import Coverage
from winnow.settings.enumeration import Enumerate
from winnow.settings.field_table import FIELDS, FieldTable, spread
from winnow.settings.header import Header, header_problem, slug_of
from winnow.settings.launch import LaunchSurface
from winnow.settings.matching import Comparison
from winnow.settings.packing import PackLimits
from winnow.settings.reduction import Reduction
from winnow.settings.sweep import Sweep
from winnow.spaces.rules.expression import parse
from winnow.strict.document import Document, Key
from winnow.strict.schema import validate
from winnow.strict.yaml_reader import load_yaml

MANIFEST_FILE = "engine.yaml"
"""The name of a manifest in its engine's directory."""


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
    document = spread(load_yaml(path))
    manifest = validate(Manifest, document)
    problem = header_problem(manifest)
    if problem is not None:
        raise InputError(problem[1], place=document.place(*problem[0]))
    loaded = LoadedManifest(manifest, document, path.parent)
    _check_names(loaded)
    return loaded


def manifest_schema() -> dict[str, Any]:
    """The JSON Schema of a manifest in either form: with `fields:`, or with hipDNN's own sections in its place."""
    schema, table = Manifest.model_json_schema(), FieldTable.model_json_schema()
    schema["$defs"] |= table["$defs"]
    schema["properties"] = {**schema["properties"], FIELDS: table["properties"][FIELDS]}
    spelled_out = ["kmd_fields", "specialization"]
    schema["required"] = [name for name in schema["required"] if name not in spelled_out]
    reduction = schema["$defs"]["Reduction"]
    reduction["required"] = [name for name in reduction["required"] if name != "performance"]
    return {**schema, "anyOf": [{"required": [FIELDS]}, {"required": spelled_out}]}


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
                f'"{performance.divides}" is not a field of match',
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
