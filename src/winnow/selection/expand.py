"""A selection's packs written out: every kernel with its full spec, its metadata and the line that it comes from."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from winnow.errors import InputError, Place, nearest
from winnow.selection.document import ARM_CONTROLS, SHAPE_CONTROLS, LoadedSelection, Pack, PlainKernel, VariantGroup
from winnow.selection.kernel import Kernel
from winnow.selection.name_template import NameTemplate
from winnow.selection.naming import token
from winnow.settings.fields import KmdField
from winnow.strict.document import Key
from winnow.targets.tiers import covers


def expand(loaded: LoadedSelection) -> tuple[Kernel, ...]:
    """Every kernel of the selection, in its order.

    Raises:
        InputError: an unknown knob set, a field without a value or of the wrong type, a name used twice.
    """
    expansion = _Expansion(loaded)
    kernels: list[Kernel] = []
    seen: dict[str, Place] = {}
    for i, pack in enumerate(loaded.selection.packs):
        before = len(seen)
        for kernel in expansion.pack(pack, ("packs", i)):
            if kernel.name in seen:
                raise InputError(
                    f'two kernels are called "{kernel.name}" (the first from {seen[kernel.name]})',
                    place=kernel.place,
                    cure="give each a distinct knob value, or a tag that the name template shows",
                )
            seen[kernel.name] = kernel.place
            kernels.append(kernel)
        if len(seen) == before:
            raise InputError(f'pack "{pack.name}" has no kernels', place=loaded.document.place("packs", i))
    return tuple(kernels)


class _Expansion:
    """One expansion of one selection: the declared fields, and places for errors."""

    def __init__(self, loaded: LoadedSelection) -> None:
        self.document = loaded.document
        self.fields: dict[str, KmdField] = {field.name: field for field in loaded.selection.kmd_fields}
        self.specialization = loaded.selection.specialization

    def pack(self, pack: Pack, at: tuple[Key, ...]) -> Iterator[Kernel]:
        if (pack.kernel_template is None) != (not pack.axes):
            raise InputError("axes and kernel_template go together", place=self.document.place(*at))
        for i, group in enumerate(pack.variants):
            yield from self.group(pack, group, (*at, "variants", i))
        if pack.kernel_template is not None:
            yield from self.axes(pack, pack.kernel_template, at)
        for i, plain in enumerate(pack.kernels):
            yield self.plain(pack, plain, (*at, "kernels", i))

    def group(self, pack: Pack, group: VariantGroup, at: tuple[Key, ...]) -> Iterator[Kernel]:
        defaults = dict(pack.kernel_defaults)
        source = dict(defaults.pop("kernel_source", {})) or {k: v for k, v in defaults.items() if k != "priority"}
        base = {**source.pop("spec", {}), **group.spec_defaults}
        template = NameTemplate(group.name)
        for i, shape in enumerate(group.shapes):
            place = self.document.place(*at, "shapes", i)
            arms = self.arms(group, shape, at, i)
            fields = {**base, **{k: v for k, v in shape.items() if k not in SHAPE_CONTROLS}}
            for j, arm in enumerate(arms):
                spec = {**fields, **{k: v for k, v in arm.items() if k not in ARM_CONTROLS}}
                if group.spec_order is not None:
                    spec = self.ordered(spec, group.spec_order, place)
                metadata = self.metadata(group, spec, shape, arm, place)
                yield Kernel(
                    name=template.fill(spec, metadata, shape, arm, place),
                    pack=pack.name,
                    arch=tuple(pack.arch),
                    source=source,
                    spec=spec,
                    metadata=metadata,
                    priority=defaults.get("priority", 0),
                    place=self.document.place(*at, "knob_sets", shape["knobs"], j) if "knobs" in shape else place,
                    discriminator=pack.discriminator,
                )

    def arms(self, group: VariantGroup, shape: Mapping[str, Any], at: tuple[Key, ...], i: int) -> list[dict[str, Any]]:
        name = shape.get("knobs")
        if name is None:
            return [{}]
        if name not in group.knob_sets:
            raise InputError(
                f'no knob set "{name}"',
                place=self.document.place(*at, "shapes", i, "knobs"),
                cure=nearest(str(name), group.knob_sets),
            )
        return group.knob_sets[name]

    def ordered(self, spec: Mapping[str, Any], order: list[str], place: Place) -> dict[str, Any]:
        for key in spec:
            if key not in order:
                raise InputError(f'spec field "{key}" is not in spec_order', place=place, cure=nearest(key, order))
        return {key: spec[key] for key in order if key in spec}

    def metadata(
        self,
        group: VariantGroup,
        spec: Mapping[str, Any],
        shape: Mapping[str, Any],
        arm: Mapping[str, Any],
        place: Place,
    ) -> dict[str, Any]:
        resolved, stated = shape.get("resolved", {}), arm.get("metadata", {})
        names = list(self.fields) if group.metadata is None else group.metadata
        for name in (*names, *resolved, *stated):
            if name not in self.fields:
                raise InputError(f'"{name}" is not a kmd field', place=place, cure=nearest(name, self.fields))
        values: dict[str, Any] = {}
        for name in names:
            value = next((v for v in (stated.get(name), spec.get(name), resolved.get(name)) if v is not None), None)
            if value is not None:
                words = group.vocabulary.get(name) or self.specialization.vocabulary.get(name, {})
                values[name] = self.coerce(name, self.spelled(name, value, words, place), place)
            elif group.metadata is not None or self.fields[name].default_value is None:
                policy = " (the kernel's policy decides it: say its value in resolved)"
                raise InputError(
                    f'no value for the metadata field "{name}"{policy if name in group.policy_knobs else ""}',
                    place=place,
                )
        return values

    def spelled(self, name: str, value: Any, words: Mapping[str, Any], place: Place) -> Any:
        if words and str(value) not in words and value not in words.values():
            raise InputError(
                f'"{value}" is not a spelling of {name} that the vocabulary maps',
                place=place,
                cure=nearest(str(value), words),
            )
        return words.get(str(value), value)

    def coerce(self, name: str, value: Any, place: Place) -> Any:
        kind = self.fields[name].type
        if kind == "int" and isinstance(value, bool):
            return int(value)
        if kind == "float" and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        fits = {
            "bool": isinstance(value, bool),
            "int": isinstance(value, int) and not isinstance(value, bool),
            "float": isinstance(value, float),
            "string": isinstance(value, str),
            "int_list": isinstance(value, list) and all(isinstance(item, int) for item in value),
        }[kind]
        if not fits:
            raise InputError(f'metadata field "{name}" is of type {kind}, the value is {value!r}', place=place)
        return value

    def axes(self, pack: Pack, template: PlainKernel, at: tuple[Key, ...]) -> Iterator[Kernel]:
        names = sorted(pack.axes)
        for name in names:
            place = self.document.place(*at, "axes", name)
            if name not in self.fields:
                raise InputError(f'axis "{name}" is not a kmd field', place=place, cure=nearest(name, self.fields))
            if not pack.axes[name]:
                raise InputError(f'axis "{name}" has no values', place=place)
        for values in itertools.product(*(pack.axes[name] for name in names)):
            point = dict(zip(names, values, strict=True))
            suffix = "_".join(f"{name}{token(value)}" for name, value in point.items())
            source = {**template.kernel_source, "spec": {**point, **template.kernel_source.get("spec", {})}}
            plain = template.model_copy(
                update={
                    "name": f"{template.name}.{suffix}",
                    "kernel_source": source,
                    "metadata": {**point, **template.metadata},
                }
            )
            yield self.plain(pack, plain, (*at, "kernel_template"))

    def plain(self, pack: Pack, kernel: PlainKernel, at: tuple[Key, ...]) -> Kernel:
        place = self.document.place(*at)
        for name in kernel.metadata:
            if name not in self.fields:
                raise InputError(f'"{name}" is not a kmd field', place=place, cure=nearest(name, self.fields))
        for name, field in self.fields.items():
            if name not in kernel.metadata and field.default_value is None:
                raise InputError(f'no value for the metadata field "{name}"', place=place)
        metadata = {n: self.coerce(n, kernel.metadata[n], place) for n in self.fields if n in kernel.metadata}
        source = {k: v for k, v in kernel.kernel_source.items() if k != "spec"}
        arch = pack.arch if kernel.arch is None else kernel.arch
        for name in arch:
            if not covers(pack.arch, [name]):
                raise InputError(f'arch "{name}" is not one of the pack\'s {pack.arch}', place=place)
        spec = kernel.kernel_source.get("spec", {})
        priority = kernel.priority
        return Kernel(kernel.name, pack.name, tuple(arch), source, spec, metadata, priority, place, pack.discriminator)
