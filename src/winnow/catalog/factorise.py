"""Variants → the compact form of a selection: what all share, what a cell fixes, and named knob sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from winnow.catalog.enumerate import Variant
from winnow.catalog.header import Header
from winnow.catalog.manifest import BuilderRef, Manifest
from winnow.catalog.naming import name_template
from winnow.identity import canonical_json

Record = dict[str, Any]


def selection_record(manifest: Manifest, variants: Sequence[Variant]) -> Record:
    """A selection document as plain data: the manifest's header, and a pack for each arch and candidate."""
    header = Header.model_validate({name: getattr(manifest, name) for name in Header.model_fields})
    packs = [
        _pack(manifest, arch, list(group))
        for (arch, _), group in groupby(variants, key=lambda variant: (variant.arch, variant.candidate))
    ]
    return {**header.model_dump(exclude_none=True, exclude_defaults=False), "packs": packs}


def _pack(manifest: Manifest, arch: str, variants: Sequence[Variant]) -> Record:
    first = variants[0]
    builder: BuilderRef = manifest.enumerate.builders[first.candidate]
    return {
        "name": f"{first.algorithm}_{arch}",
        "arch": [arch],
        "kernel_defaults": {
            "kind": manifest.kernel_source_kind,
            "source": builder.source,
            "builder": builder.builder,
            "priority": first.priority,
        },
        "variants": [_group(first.algorithm, arch, variants)],
    }


def _group(algorithm: str, arch: str, variants: Sequence[Variant]) -> Record:
    specs = [variant.spec for variant in variants]
    order = list(specs[0])
    by_cell = [list(group) for _, group in groupby(variants, key=lambda variant: canonical_json(dict(variant.cell)))]
    constant = [name for name in order if _one(spec[name] for spec in specs)]
    per_cell = [name for name in order if name not in constant and _fixed(by_cell, lambda v, name=name: v.spec[name])]
    knobs = [name for name in order if name not in constant and name not in per_cell]
    derived = [name for name in variants[0].metadata if name not in order]
    resolved = [name for name in derived if _fixed(by_cell, lambda v, name=name: v.metadata[name])]

    names: dict[str, str] = {}
    knob_sets: dict[str, list[Record]] = {}
    shapes: list[Record] = []
    for cell in by_cell:
        arms = [_arm(variant, knobs, [name for name in derived if name not in resolved]) for variant in cell]
        key = canonical_json(arms)
        if key not in names:
            names[key] = f"{algorithm}_{len(names)}"
            knob_sets[names[key]] = arms
        shape = {name: cell[0].spec[name] for name in per_cell}
        if resolved:
            shape["resolved"] = {name: cell[0].metadata[name] for name in resolved}
        shapes.append({**shape, "knobs": names[key]})
    return {
        "name": name_template(algorithm, arch, specs),
        "metadata": list(variants[0].metadata),
        "spec_order": order,
        "spec_defaults": {name: specs[0][name] for name in constant},
        "knob_sets": knob_sets,
        "shapes": shapes,
    }


def _arm(variant: Variant, knobs: Sequence[str], derived: Sequence[str]) -> Record:
    arm: Record = {name: variant.spec[name] for name in knobs}
    return arm | ({"metadata": {name: variant.metadata[name] for name in derived}} if derived else {})


def _one(values: Iterable[Any]) -> bool:
    seen = {canonical_json(value) for value in values}
    return len(seen) == 1


def _fixed(by_cell: Sequence[Sequence[Variant]], value: Any) -> bool:
    return all(_one(value(variant) for variant in cell) for cell in by_cell)
