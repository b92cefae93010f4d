"""AMD target ids (`gfx90a:sramecc+:xnack-`): a processor and features that are on, off or left open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from winnow.errors import InputError, nearest
from winnow.targets.arches import arch_facts

FEATURES = ("sramecc", "xnack")


@dataclass(frozen=True)
class TargetId:
    """A parsed target id. A feature that `features` lacks is open: code for it runs with the feature on or off."""

    processor: str
    features: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}))

    def __str__(self) -> str:
        return self.processor + "".join(f":{name}{'+' if on else '-'}" for name, on in sorted(self.features.items()))

    def runs_on(self, device: TargetId) -> bool:
        """True where code for this id may be loaded on `device`: same processor, no feature against it."""
        return self.processor == device.processor and all(
            device.features.get(name) == on for name, on in self.features.items()
        )


def parse_target_id(text: str) -> TargetId:
    """`gfx90a:sramecc+:xnack-` as a value.

    Raises:
        InputError: an unknown processor, an unknown or repeated feature, a feature without `+` or `-`, or features
            on a target that is not an AMD GPU.
    """
    processor, *parts = text.split(":")
    facts = arch_facts(processor)
    if parts and facts.runtime != "amdgpu":
        raise InputError(f'target id "{text}": {processor} has no target-id features', cure=f'write "{processor}"')
    features: dict[str, bool] = {}
    for part in parts:
        name, sign = part[:-1], part[-1:]
        if sign not in ("+", "-"):
            raise InputError(f'target id "{text}": feature "{part}" is neither on (+) nor off (-)')
        if name not in FEATURES:
            raise InputError(f'target id "{text}": unknown feature "{name}"', cure=nearest(name, FEATURES))
        if name in features:
            raise InputError(f'target id "{text}": feature "{name}" is given twice', cure="keep one of the two")
        features[name] = sign == "+"
    return TargetId(processor, MappingProxyType(features))
