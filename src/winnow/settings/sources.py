"""Kinds of kernel source: which keys each has, which dialect allows it, and whether it is compiled from a spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from winnow import plugins
from winnow.errors import nearest


@dataclass(frozen=True)
class SourceForm:
    """One kind. `values` are the types of its keys; those in `optional` may be left out."""

    values: Mapping[str, type]
    dialects: frozenset[str]
    optional: frozenset[str] = frozenset()
    from_spec: bool = False


_PACKAGED, _DIRECT = frozenset({"packaged"}), frozenset({"direct_load"})
_BUILT = SourceForm({"source": str, "builder": str, "spec": dict}, _PACKAGED, from_spec=True)

_FORMATS: Mapping[str, SourceForm] = MappingProxyType(
    {
        "hip": SourceForm({"source": str, "entry": str, "build": dict}, _PACKAGED),
        "hsaco": SourceForm({"file": str, "symbol": str}, _PACKAGED),
        "embedded_source": SourceForm({"source_file": str, "entry_point": str}, _DIRECT | _PACKAGED),
        "hiprtc_file": SourceForm(
            {"bundle": str, "source_file": str, "entry_point": str, "defines": dict}, _DIRECT, frozenset({"defines"})
        ),
        "kpack": SourceForm(
            {"library": str, "toc_key": str, "symbol": str, "sha256": str, "signature": list}, frozenset()
        ),
    }
)
"""The kinds that hipDNN's formats have besides those that compilers take. `kpack` is what a packer writes."""


_NATIVE = frozenset({"rocke", *_FORMATS})


def source_forms() -> Mapping[str, SourceForm]:
    """Forms by kind: what each installed compiler builds from a spec, and what hipDNN's formats have besides."""
    return {**dict.fromkeys(plugins.installed("winnow.compilers"), _BUILT), **_FORMATS}


def matched_natively(kind: str) -> bool:
    """Whether native code of hipDNN's side matches graphs for kernels of this kind; others Winnow's engine matches."""
    return kind in _NATIVE


def kind_problem(kind: str) -> str | None:
    """Why a header cannot name this kind of kernel source, and the nearest that it can; None where it can."""
    known = [name for name in source_forms() if name != "kpack"]
    return (
        None
        if kind in known
        else f'no installed compiler takes kernel sources of kind "{kind}" ({nearest(kind, known)})'
    )


def source_problem(source: Mapping[str, Any], known: Mapping[str, SourceForm] | None = None) -> str | None:
    """What is wrong with a kernel source by its kind, as a sentence, or None; `known` by default all forms."""
    known = source_forms() if known is None else known
    kind = str(source.get("kind"))
    if kind not in known:
        return f'its kernel source is of the unknown kind "{kind}" ({nearest(kind, known)})'
    form = known[kind]
    for key, expected in form.values.items():
        if key not in source:
            if key not in form.optional:
                return f'its kernel source of kind {kind} has no "{key}"'
        elif type(source[key]) is not expected:
            return f'"{key}" of its kernel source is {source[key]!r}, not of type {expected.__name__}'
    for key in source:
        if key != "kind" and key not in form.values:
            return f'unknown key "{key}" in its kernel source of kind {kind} ({nearest(key, form.values)})'
    return _inner_problem(source)


def _inner_problem(source: Mapping[str, Any]) -> str | None:
    build = source.get("build", {})
    defines = build.get("defines", {}) if source["kind"] == "hip" else source.get("defines", {})
    if any(key not in ("defines", "flags") for key in build):
        return f"the build of its kernel source has other keys than defines and flags: {sorted(build)}"
    if any("-fuse-cuid" in flag for flag in build.get("flags", ())):
        return "the flag -fuse-cuid is the packer's to set"
    if source["kind"] == "hiprtc_file" and not all(type(value) is str for value in defines.values()):
        return "the values of its defines are not all texts"
    return None
