"""Kernels → the compact form of a selection: what all share, what a shape fixes, and named knob sets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby, pairwise
from typing import Any

from winnow.identity import canonical_json
from winnow.selection.kernel import Kernel
from winnow.selection.template import Template, infer_template
from winnow.settings.header import Specialization

Record = dict[str, Any]

_ABSENT = object()


def factorise(
    kernels: Sequence[Kernel],
    part: Specialization,
    cell_fields: Collection[str] = (),
    policy_knobs: Collection[str] = (),
) -> list[Record]:
    """The packs of a selection that expands to exactly these kernels, in this order.

    Spec fields named in `cell_fields` stay in the shapes; where none is named, the split with the fewest lines wins.
    Metadata of a policy knob that a spec lacks is stated by the shapes, under `resolved`, or by the arms. A pack that
    the compact form cannot express is written out kernel by kernel.
    """
    return [
        _pack(list(members), part, cell_fields, policy_knobs) for _, members in groupby(kernels, key=lambda k: k.pack)
    ]


def _pack(
    kernels: Sequence[Kernel], part: Specialization, cell_fields: Collection[str], policy_knobs: Collection[str]
) -> Record:
    first = kernels[0]
    arch = list(dict.fromkeys(name for kernel in kernels for name in kernel.arch))
    head: Record = {"name": first.pack, "arch": arch}
    if first.discriminator is not None:
        head["discriminator"] = first.discriminator
    shared = _one((dict(k.source), k.priority, list(k.arch)) for k in kernels) and list(first.arch) == arch
    if shared:

        def form(kernel: Kernel) -> tuple[tuple[str, ...], tuple[str, ...]]:
            return tuple(name for name in kernel.spec if name not in policy_knobs), tuple(kernel.metadata)

        runs = [list(run) for _, run in groupby(kernels, key=form)]
        groups = [_group(run, part, cell_fields, policy_knobs) for run in runs]
        if all(group is not None for group in groups):
            return {**head, "kernel_defaults": {**first.source, "priority": first.priority}, "variants": groups}
    return {**head, "kernels": [_plain(kernel, arch) for kernel in kernels]}


def _plain(kernel: Kernel, arch: list[str]) -> Record:
    own = {} if list(kernel.arch) == arch else {"arch": list(kernel.arch)}
    return {
        "name": kernel.name,
        "kernel_source": kernel.kernel_source,
        "metadata": dict(kernel.metadata),
        "priority": kernel.priority,
        **own,
    }


def _group(
    kernels: Sequence[Kernel], part: Specialization, cell_fields: Collection[str], policy_knobs: Collection[str]
) -> Record | None:
    order = _merged([list(kernel.spec) for kernel in kernels])
    values = [{**k.spec, **{f"md_{name}": value for name, value in k.metadata.items()}} for k in kernels]
    template = infer_template([kernel.name for kernel in kernels], values)
    if template is None:
        return None
    whole = [name for name in order if all(name in kernel.spec for kernel in kernels)]
    constant = [name for name in whole if _one(kernel.spec[name] for kernel in kernels)]
    split = _Split(kernels, part, template)
    knobs = split.best([name for name in order if name not in constant], cell_fields)
    shaped = [name for name in order if name not in constant and name not in knobs]

    blocks = split.blocks(knobs)
    stated = split.stated
    resolved = [
        name for name in stated if name not in order and all(_one(kernels[i].metadata[name] for i in b) for b in blocks)
    ]
    names: dict[str, str] = {}
    knob_sets: dict[str, list[Record]] = {}
    shapes: list[Record] = []
    for block in blocks:
        arms = split.arms(block, knobs, [name for name in stated if name not in resolved])
        key = canonical_json(arms)
        if key not in names:
            names[key] = f"knobs{len(names)}"
            knob_sets[names[key]] = arms
        first = kernels[block[0]]
        shape = {name: first.spec[name] for name in shaped if name in first.spec}
        shape |= {"resolved": {name: first.metadata[name] for name in resolved}} if resolved else {}
        shapes.append({**shape, "knobs": names[key]})
    policy = [name for name in stated if name in policy_knobs and name not in whole]
    return {
        "name": template.text,
        "metadata": list(kernels[0].metadata),
        **({"policy_knobs": policy} if policy else {}),
        "spec_order": order,
        "spec_defaults": {name: kernels[0].spec[name] for name in constant},
        "knob_sets": knob_sets,
        "shapes": shapes,
    }


class _Split:
    """One run of kernels, and what a choice of knob fields makes of it."""

    def __init__(self, kernels: Sequence[Kernel], part: Specialization, template: Template) -> None:
        self.kernels = kernels
        self.template = template
        self.stated = [
            name for name in kernels[0].metadata if any(not _follows(kernel, name, part) for kernel in kernels)
        ]
        """Metadata that does not follow from the spec and must be said."""

    def blocks(self, knobs: Collection[str]) -> list[list[int]]:
        """Indices of consecutive kernels that differ in knob fields only."""

        def rest(i: int) -> str:
            return canonical_json({name: v for name, v in self.kernels[i].spec.items() if name not in knobs})

        return [list(run) for _, run in groupby(range(len(self.kernels)), key=rest)]

    def arms(self, block: Sequence[int], knobs: Collection[str], stated: Collection[str]) -> list[Record]:
        """One record a kernel of the block: its knob values, its stated metadata and its tag."""
        made = []
        for i in block:
            kernel, tag = self.kernels[i], self.template.tags[i]
            arm: Record = {name: value for name, value in kernel.spec.items() if name in knobs}
            arm |= {"metadata": {name: kernel.metadata[name] for name in stated}} if stated else {}
            made.append(arm | ({"tag": tag} if tag else {}))
        return made

    def best(self, varying: Sequence[str], cell_fields: Collection[str]) -> list[str]:
        """The knob fields: all that are not cell fields, or the ones that change fastest, as many as save lines."""
        if cell_fields:
            return [name for name in varying if name not in cell_fields]
        specs = [kernel.spec for kernel in self.kernels]
        changes = {
            name: sum(_differ(a.get(name, _ABSENT), b.get(name, _ABSENT)) for a, b in pairwise(specs))
            for name in varying
        }
        fastest = sorted(varying, key=lambda name: -changes[name])
        return min((fastest[:n] for n in range(len(fastest) + 1)), key=lambda knobs: (self._lines(knobs), len(knobs)))

    def _lines(self, knobs: Collection[str]) -> int:
        blocks = self.blocks(knobs)
        sets = {canonical_json(arms): len(arms) for arms in (self.arms(b, knobs, self.stated) for b in blocks)}
        return len(blocks) + len(sets) + sum(sets.values())


def _merged(orders: Sequence[Sequence[str]]) -> list[str]:
    """One order of all fields, in which each kernel's own order stands where a knob left to policy is missing."""
    merged: list[str] = []
    for order in orders:
        at = 0
        for name in order:
            if name in merged:
                at = merged.index(name) + 1
            else:
                merged.insert(at, name)
                at += 1
    return merged


def _follows(kernel: Kernel, name: str, part: Specialization) -> bool:
    """Whether expansion finds this metadata value in the spec by itself."""
    if kernel.spec.get(name) is None:
        return False
    value, own = kernel.metadata[name], part.spelled(name, kernel.spec[name])
    own = int(own) if isinstance(own, bool) and not isinstance(value, bool) else own
    return bool(own == value)


def _differ(a: Any, b: Any) -> bool:
    return bool(a != b) or type(a) is not type(b)


def _one(values: Iterable[Any]) -> bool:
    return len({canonical_json(value) for value in values}) == 1
