"""Predicates of foreign registries: if these fail, Winnow counts a space by what it believes a predicate to read."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from dataclasses import asdict, astuple, dataclass, field, replace
from functools import cached_property
from typing import Any

import pytest

from winnow.errors import InputError
from winnow.spaces import Rule, TuningSpace, choices, flag, opaque
from winnow.spaces.diagram import automata

DOMAINS: dict[str, list[Any]] = {"tile": [1, 2, 4, 8], "waves": [1, 2, 4], "pad": [0, 8], "mode": ["row", "col"]}
AXES = tuple(choices(name, values) for name, values in DOMAINS.items())


@dataclass(frozen=True)
class Spec:
    tile: int = 4
    waves: int = 2
    pad: int = 0
    mode: str = "row"
    lds: int = 24

    @property
    def bytes(self) -> int:
        return self.tile * (8 + self.pad)

    def fits(self) -> bool:
        return self.bytes * self.waves <= self.lds


def by_getattr_with_default(spec: Any) -> bool:
    return getattr(spec, "tile", 0) * getattr(spec, "waves", 0) <= 8 and getattr(spec, "no_such_field", 1) == 1


def by_hasattr(spec: Any) -> bool:
    return hasattr(spec, "pad") and spec.pad == 0


def by_vars(spec: Any) -> bool:
    return sum(value for value in vars(spec).values() if isinstance(value, int)) % 2 == 0


def by_dict(spec: Any) -> bool:
    return spec.__dict__["tile"] > spec.__dict__["waves"]


def by_asdict(spec: Any) -> bool:
    return asdict(spec)["tile"] >= 4 and astuple(spec)[1] < 4


def by_equality(spec: Any) -> bool:
    return spec == Spec(waves=4) or spec.tile == 1


def by_hash_and_repr(spec: Any) -> bool:
    return "tile=8" in repr(spec) or hash(spec) == hash(Spec())


def by_copy(spec: Any) -> bool:
    return copy.copy(spec).tile > 2 and replace(spec, pad=0).waves < 4


def by_broad_except(spec: Any) -> bool:
    try:
        return spec.tile * spec.pad > 8
    except Exception:  # noqa: BLE001 - what foreign code does
        return True


def by_bare_except(spec: Any) -> bool:
    try:
        wide = spec.tile > 2
    except:  # noqa: E722
        wide = True
    try:
        return wide and spec.waves > 1
    except BaseException:  # noqa: BLE001 - what foreign code does
        return False


def by_object_getattribute(spec: Any) -> bool:
    return object.__getattribute__(spec, "tile") > 2


def by_type(spec: Any) -> bool:
    return type(spec) is Spec and spec.waves > 1


def by_methods(spec: Any) -> bool:
    return spec.fits()


def by_short_circuit(spec: Any) -> bool:
    if spec.mode == "row":
        return spec.tile % spec.waves == 0
    return spec.pad == 8


PREDICATES = [value for name, value in globals().copy().items() if name.startswith("by_")]


def valid(predicate: Callable[[Any], object]) -> set[tuple[Any, ...]]:
    points = itertools.product(*DOMAINS.values())
    return {point for point in points if predicate(Spec(**dict(zip(DOMAINS, point, strict=True))))}


@pytest.mark.parametrize("worth", [1, 1 << 30], ids=["decided", "called"])
@pytest.mark.parametrize("predicate", PREDICATES, ids=lambda predicate: predicate.__name__)
def test_however_a_predicate_reads_the_points_are_those_of_the_plain_filter(
    predicate: Callable[[Any], object], worth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(automata, "_WORTH_DECIDING", worth)
    space = TuningSpace(AXES, (opaque(predicate, base=Spec(), axes=AXES),))
    assert set(space.tuples()) == valid(predicate)
    assert space.count() == len(valid(predicate))


@pytest.mark.parametrize(
    ("predicate", "reads"),
    [
        (by_getattr_with_default, ("tile", "waves")),
        (by_hasattr, ("pad",)),
        (by_broad_except, ("tile", "pad")),
        (by_bare_except, ("tile", "waves")),
        (by_object_getattribute, ("tile",)),
        (by_methods, ("tile", "waves", "pad")),
        (by_short_circuit, ("tile", "waves", "pad", "mode")),
        (by_vars, tuple(DOMAINS)),
        (by_type, tuple(DOMAINS)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_rule_reads_what_the_predicate_reads_on_some_path(predicate: Any, reads: tuple[str, ...]) -> None:
    assert opaque(predicate, base=Spec(), axes=AXES).reads == reads


def test_a_decided_predicate_is_not_called_for_every_point() -> None:
    calls = 0

    def staged(spec: Any) -> bool:
        nonlocal calls
        calls += 1
        return spec.a == 3 and spec.b == 3 and spec.c == 3 and spec.d == 3

    @dataclass(frozen=True)
    class Wide:
        a: int = 0
        b: int = 0
        c: int = 0
        d: int = 0

    axes = tuple(choices(name, range(40)) for name in "abcd")
    space = TuningSpace(axes, (opaque(staged, base=Wide(), axes=axes),))
    assert list(space.enumerate()) == [dict.fromkeys("abcd", 3)]
    assert calls < 40 * 40


def test_a_spec_that_checks_itself_may_refuse() -> None:
    @dataclass(frozen=True)
    class Checked:
        tile: int = 1
        waves: int = 1
        twice: int = field(init=False, default=0)

        def __post_init__(self) -> None:
            if self.tile % self.waves:
                raise ValueError("tile must be a multiple of waves")
            object.__setattr__(self, "twice", 2 * self.tile)

        @cached_property
        def product(self) -> int:
            return self.twice * self.waves

    def small(spec: Any) -> bool:
        return spec.product <= 16

    rule = opaque(small, base=Checked(), axes=AXES[:2], refuses=(ValueError,))
    points = {(t, w) for t in DOMAINS["tile"] for w in DOMAINS["waves"] if t % w == 0 and 2 * t * w <= 16}
    assert set(TuningSpace(AXES[:2], (rule,)).tuples()) == points
    with pytest.raises(InputError, match="ValueError: tile must be a multiple of waves"):
        TuningSpace(AXES[:2], (opaque(small, base=Checked(), axes=AXES[:2]),)).count()


def test_slots_and_other_rules_go_together_with_a_predicate() -> None:
    @dataclass(frozen=True, slots=True)
    class Slotted:
        tile: int = 1
        waves: int = 1

    rule = opaque(lambda spec: spec.tile >= spec.waves, base=Slotted(), axes=AXES[:2], name="wide enough")
    space = TuningSpace(AXES[:2], (rule, Rule.from_expression("tile * waves == 8")))
    assert set(space.tuples()) == {(4, 2), (8, 1)}
    assert space.explain({"tile": 2, "waves": 4}) == 'rule "wide enough" refuses tile=2, waves=4'


def test_a_knob_left_to_policy_keeps_the_base_value() -> None:
    @dataclass(frozen=True)
    class Persistent:
        persistent: bool = False
        waves: int = 1

    axes = (flag("persistent"), choices("waves", [1, 2]))
    rule = opaque(lambda spec: not spec.persistent or spec.waves == 1, base=Persistent(), axes=axes)
    assert list(TuningSpace(axes, (rule,)).enumerate()) == [
        {"waves": 1},
        {"waves": 2},
        {"persistent": True, "waves": 1},
    ]


def test_an_answer_that_is_no_truth_is_an_error() -> None:
    with pytest.raises(InputError, match=r"it must return true or false, not \(False, 'too small'\)"):
        TuningSpace(AXES, (opaque(lambda spec: (spec.tile > 99, "too small"), base=Spec(), axes=AXES),)).count()


def test_a_base_must_be_a_spec_and_a_knob_one_of_its_fields() -> None:
    with pytest.raises(InputError) as caught:
        opaque(bool, base=Spec, axes=AXES)
    assert str(caught.value) == (
        f"{Spec!r} is not an instance of a dataclass\n  cure: give a base spec, such as the default one"
    )
    with pytest.raises(InputError) as caught:
        opaque(bool, base=Spec(), axes=(choices("tyle", [1]),))
    assert str(caught.value) == 'knob "tyle" is not a field of Spec\n  cure: did you mean "tile"?'
