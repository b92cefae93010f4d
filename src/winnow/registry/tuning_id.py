"""One configuration, one name: canonical knobs, the key over all that shapes a kernel, and the id made from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise

from winnow.errors import InputError, Refused, nearest
from winnow.identity import stable_json_hash
from winnow.spaces.answers.space import TuningSpace
from winnow.spaces.model.axes import KnobAxis, Value, knob_requirements

TUNING_ID_VERSION = 2

Knobs = tuple[tuple[str, Value], ...]


def sorted_knobs(knobs: Mapping[str, Value] | Iterable[tuple[str, Value]]) -> Knobs:
    """Knobs as pairs, sorted by name.

    Raises:
        InputError: a name twice, or a value that is not a JSON scalar.
    """
    pairs = tuple(sorted(knobs.items() if isinstance(knobs, Mapping) else knobs, key=lambda pair: pair[0]))
    for (name, _), (following, _) in pairwise(pairs):
        if name == following:
            raise InputError(f'knob "{name}" is set twice', cure="keep one of the two")
    for name, value in pairs:
        if not (value is None or isinstance(value, bool | int | str)) and not (
            isinstance(value, float) and math.isfinite(value)
        ):
            raise InputError(
                f'knob "{name}": {value!r} is not a JSON scalar',
                cure="use a bool, an int, a finite float, a string or None",
            )
    return pairs


def defaults_fingerprint(defaults: Mapping[str, Value]) -> str:
    """16 hex digits over the base spec's knob values: a changed default invalidates every stored id over it."""
    return stable_json_hash({"defaults": dict(defaults)}, 16)


def config_key(*, abi: str, arch: str, path: str, variant: str, knobs: Knobs, defaults: str = "") -> str:
    """16 hex digits over everything that makes a configuration.

    `defaults` is the `defaults_fingerprint` of the base spec that the knobs stand over; it is empty only where the
    knobs name every one of the kernel's decisions.
    """
    payload = {
        "v": TUNING_ID_VERSION,
        "abi": abi,
        "arch": arch,
        "path": path,
        "variant": variant,
        "knobs": [[name, value] for name, value in sorted_knobs(knobs)],
        "defaults": defaults,
    }
    return stable_json_hash(payload, 16)


def tuning_id(variant: str, key: str, waves_per_eu: int | None = None) -> str:
    """`<variant>_wpe<N|none>@<key>`: readable before the last `@`, exact after it."""
    return f"{variant}_wpe{'none' if waves_per_eu is None else waves_per_eu}@{key}"


def key_of(identifier: str) -> str:
    """The `config_key` in a `tuning_id`.

    Raises:
        InputError: the text has no `@`.
    """
    _, at, key = identifier.rpartition("@")
    if not at:
        raise InputError(f'"{identifier}" is not a tuning id', cure="<variant>_wpe<N|none>@<16 hex digits>")
    return key


def names_variant(identifier: str, variant: str) -> bool:
    """Whether the readable part of a tuning id is of this variant."""
    return identifier.rpartition("@")[0].startswith(f"{variant}_wpe")


def drop_base_equal(knobs: Mapping[str, Value] | Knobs, base: Mapping[str, Value]) -> Knobs:
    """The knobs that differ from the base spec, so that one configuration has one id. `1` and `True` differ."""
    return tuple(
        (name, value)
        for name, value in sorted_knobs(knobs)
        if not (name in base and type(base[name]) is type(value) and base[name] == value)
    )


def canonicalise(
    space: TuningSpace,
    knobs: Mapping[str, Value] | Knobs,
    *,
    base: Mapping[str, Value] | None = None,
    inert: Callable[[Mapping[str, Value]], Iterable[str]] | None = None,
) -> Knobs:
    """The one spelling of a configuration, without the knobs that do nothing; refused if it is not in the space.

    Dropped are sub-knobs whose gate is not on, knobs that `inert` names (it is given the knobs and says which of
    them have no effect beside the others) and knobs that equal the base spec's value.

    Raises:
        InputError: an unknown knob, a knob twice, a value that is not a JSON scalar.
        Refused: what is left is not a point of the space; says which axis or rule.
    """
    defaults = base or {}
    chosen = dict(sorted_knobs(knobs))
    for name in chosen:
        if name not in space.knobs:
            raise InputError(f'unknown knob "{name}"', cure=nearest(name, space.knobs))
    for sub, gate in knob_requirements(space.axes).items():
        if sub in chosen and chosen.get(gate, defaults.get(gate)) is not True:
            del chosen[sub]
    if inert is not None:
        for name in set(inert(dict(chosen))):
            chosen.pop(name, None)
    canonical = drop_base_equal(chosen, defaults)
    reason = space.explain(_completed(space.axes, dict(canonical), defaults))
    if reason is not None:
        raise Refused(f"the knobs are not a configuration of this space: {reason}")
    return canonical


def _completed(axes: Iterable[KnobAxis], knobs: Mapping[str, Value], base: Mapping[str, Value]) -> dict[str, Value]:
    """The point that the knobs mean: an axis that cannot be taken as they stand gets its other knobs from the base."""
    point = dict(knobs)
    for axis in axes:
        if axis.choice_of(knobs) is None:
            point.update({knob: base[knob] for knob in axis.knobs if knob in base and knob not in knobs})
    return point
