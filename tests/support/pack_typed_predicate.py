"""A module with one predicate for its class of specs, which no builder's name leads to."""

from __future__ import annotations

from dataclasses import dataclass

from pack_samples import SampleSource


@dataclass(frozen=True)
class TypedSpec:
    tile: int


def supports_everything_typed(spec: TypedSpec, *, arch: str) -> tuple[bool, str]:
    return spec.tile != 7, "seven"


@dataclass(frozen=True)
class NarrowSpec(TypedSpec):
    fast: bool = False


def build_narrow(spec: NarrowSpec, *, arch: str) -> SampleSource:
    return SampleSource("narrow", f"{spec.tile} {arch}", ())


def build_forward(spec: TypedSpec, *, arch: str) -> SampleSource:
    return SampleSource("typed", f"{spec.tile} {arch}", ())
