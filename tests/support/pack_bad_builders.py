"""Builders with one defect each, as kernel families that people write have had them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any, Literal

from pack_samples import SampleSource, SampleSpec, build_sample, supports_sample

_COUNT = itertools.count(1)


@dataclass(frozen=True)
class Inner:
    depth: int


@dataclass(frozen=True)
class RichSpec:
    ratio: float
    mode: Literal["a", "b", 3]
    inner: Inner
    maybe: int | None = None
    flag: bool = False
    tags: list[str] = field(default_factory=list)
    either: int | str = 0

    def broken(self) -> int:
        raise RuntimeError("no hardware")

    def needs(self, more: int) -> int:
        return more

    def weird(self) -> Any:
        return {"a": 1}

    @property
    def breaking(self) -> int:
        raise RuntimeError("read before it was asked")

    def fickle(self) -> int:
        return next(_COUNT)


@dataclass(frozen=True)
class NamedSpec:
    """Fields with names that pydantic's models have for their own methods."""

    copy: int
    json: str = "a"
    model_fields: int = 1


@dataclass(frozen=True)
class NestedSpec:
    inner: NestedSpec | None = None


def build_named(spec: NamedSpec, *, arch: str) -> SampleSource:
    return SampleSource("named", "named", ())


def supports_named(spec: NamedSpec, *, arch: str) -> bool:
    return True


def build_nested(spec: NestedSpec, *, arch: str) -> SampleSource:
    return SampleSource("nested", "nested", ())


def supports_nested(spec: NestedSpec, *, arch: str) -> bool:
    return True


def build_rich(spec: RichSpec, *, arch: str) -> SampleSource:
    return SampleSource("rich", "rich", ())


def supports_rich(spec: RichSpec, *, arch: str) -> bool:
    return spec.flag


def build_lonely(spec: SampleSpec, *, arch: str) -> SampleSource:
    return build_sample(spec, arch=arch)


def build_extra(spec: SampleSpec, *, arch: str, tuned: bool = True) -> SampleSource:
    return build_sample(spec, arch=arch)


def build_positional(spec: SampleSpec, arch: str) -> SampleSource:
    return build_sample(spec, arch=arch)


def build_untyped(spec, *, arch):  # type: ignore[no-untyped-def]
    return build_sample(spec, arch=arch)


def build_mapping(spec: dict[str, Any], *, arch: str) -> SampleSource:
    raise AssertionError


def build_dangling(spec: Missing, *, arch: str) -> SampleSource:  # type: ignore[name-defined]  # noqa: F821
    raise AssertionError


def build_confused(spec: SampleSpec, *, arch: str) -> SampleSource:
    return build_sample(spec, arch=arch)


def supports_confused(spec: RichSpec, *, arch: str) -> bool:
    return True


def build_raising(spec: SampleSpec, *, arch: str) -> SampleSource:
    return build_sample(spec, arch=arch)


def supports_raising(spec: SampleSpec, *, arch: str) -> bool:
    return bool(spec.block_n)  # type: ignore[attr-defined]


def build_vague(spec: SampleSpec, *, arch: str) -> SampleSource:
    return build_sample(spec, arch=arch)


def supports_vague(spec: SampleSpec, *, arch: str) -> str:
    return "yes"


def build_elsewhere(spec: SampleSpec, *, arch: str) -> SampleSource:
    raise NotImplementedError(f"only gfx950, not {arch}")


supports_elsewhere = supports_sample


def build_failing(spec: SampleSpec, *, arch: str) -> SampleSource:
    raise KeyError("tile")


supports_failing = supports_sample


def build_nothing(spec: SampleSpec, *, arch: str) -> None:
    return None


supports_nothing = supports_sample


class Handle:
    """Something that no descriptor can hold."""


@dataclass(frozen=True)
class OpaqueSpec:
    handle: Handle


def build_opaque(spec: OpaqueSpec, *, arch: str) -> SampleSource:
    return SampleSource("opaque", "opaque", ())


def supports_opaque(spec: OpaqueSpec, *, arch: str) -> bool:
    return True
