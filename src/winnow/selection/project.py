"""A registry's spec as plain data and as metadata, and the proof that every knob that varies shows in both."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from winnow.errors import InputError, Place, nearest
from winnow.settings.header import Binding, Specialization
from winnow.settings.manifest import LoadedManifest


def plain_spec(spec: Any, accessors: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a spec as descriptors hold them: scalars, None and nested mappings.

    A knob with an accessor that the spec leaves unset is left out, because a builder tells it apart from every value.

    Raises:
        InputError: the spec is not a dataclass, or a field holds what no descriptor can.
    """
    if not is_dataclass(spec) or isinstance(spec, type):
        raise InputError(
            f"a spec of type {type(spec).__name__} cannot be projected: it is not a dataclass",
            cure="make the spec a dataclass of plain fields",
        )
    plain: dict[str, Any] = asdict(spec)
    for name, value in plain.items():
        if not _holds(value):
            raise InputError(
                f"spec field {name} cannot be projected: a descriptor cannot hold a {type(value).__name__} ({value!r})",
                cure="keep numbers, text and booleans in specs",
            )
    unset = {field.name for field in fields(spec) if field.name in accessors and field.default is None}
    return {name: value for name, value in plain.items() if value is not None or name not in unset}


def _holds(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(name, str) and _holds(part) for name, part in value.items())
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or type(value) in (bool, int, str)


def observed_metadata(spec: Any, loaded: LoadedManifest) -> dict[str, Any]:
    """What the metadata of a kernel built from `spec` must say, read from the spec by the manifest's bindings.

    A knob that the spec leaves unset has the value that its accessor gives. A field that this spec's class does not
    have is left out: the declared default stands for it.

    Raises:
        InputError: a binding or an accessor that names something else than a field or a method without arguments, a
            knob that is unset and has no accessor, or a value that the field's vocabulary does not map.
    """
    part = loaded.manifest.specialization
    metadata: dict[str, Any] = {}
    for name in part.metadata_fields:
        binding = part.bindings[name]
        if not hasattr(spec, binding.field or binding.method or ""):
            continue
        value = _read(spec, binding, loaded.place("specialization", "bindings", name))
        if value is None:
            value = _resolved(spec, name, loaded)
        plain = int(value) if isinstance(value, bool) else value
        words = part.vocabulary.get(name)
        if words is not None and str(plain) not in words and plain not in words.values():
            raise InputError(
                f'"{plain}" is not a spelling of {name} that specialization.vocabulary maps',
                cure=nearest(str(plain), words),
            )
        metadata[name] = part.spelled(name, plain)
    return metadata


def _read(spec: Any, binding: Binding, place: Place) -> Any:
    """The value that a binding names, which stands at `place`. What a gate reads off the built spec is the same."""
    owner = type(spec).__name__
    if binding.field is not None:
        if binding.field not in [item.name for item in fields(spec)]:
            raise InputError(
                f"{owner}.{binding.field} is not a field of the spec",
                place=place,
                cure=f"name a field, or bind a method without arguments: {{method: {binding.field}}}",
            )
        return getattr(spec, binding.field)
    method = getattr(spec, binding.method or "")
    if not inspect.ismethod(method) or inspect.signature(method).parameters:
        raise InputError(
            f"{owner}.{binding.method} is not a method without arguments",
            place=place,
            cure="make it one (a property is none), or bind a field of the spec: {field: NAME}",
        )
    return method()


def _resolved(spec: Any, name: str, loaded: LoadedManifest) -> Any:
    accessors, place = loaded.manifest.enumerate.accessors, loaded.place("enumerate", "accessors", name)
    if name not in accessors:
        raise InputError(
            f'{type(spec).__name__} leaves "{name}" to the kernel\'s policy, and nothing says what it decides',
            cure=f"add {name} to enumerate.accessors, with the spec's method that says it",
        )
    if not hasattr(spec, accessors[name]):
        raise InputError(f'{type(spec).__name__} has no "{accessors[name]}", the accessor of {name}', place=place)
    value = _read(spec, Binding(method=accessors[name]), place)
    if value is None:
        raise InputError(
            f'the accessor "{accessors[name]}" of {type(spec).__name__} gives None for {name}', place=place
        )
    return value


def varying(specs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The spec fields that do not have one value in all of these specs, in their order."""
    names = dict.fromkeys(name for spec in specs for name in spec)
    first = specs[0]
    return [
        name
        for name in names
        if any(
            (name in spec) != (name in first)
            or (name in spec and (spec[name] != first[name] or type(spec[name]) is not type(first[name])))
            for spec in specs
        )
    ]


def not_projected(
    specs: Sequence[Mapping[str, Any]], metadata: Sequence[Mapping[str, Any]], part: Specialization
) -> str | None:
    """The first spec field that varies and that no metadata field of every kernel is bound to, or None.

    Kernels that differ in such a field only would be one kernel to every matcher.
    """
    told = {
        binding.field or name for name, binding in part.bindings.items() if all(name in record for record in metadata)
    }
    return next((name for name in varying(specs) if name not in told), None)
