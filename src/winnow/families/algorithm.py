"""How an algorithm of a family turns requests into specs: cell, defaults, pins, rules, and the space of its knobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, TypeVar

from winnow.errors import InputError, nearest
from winnow.families.cpu import CPU_ARCHES, target_facts
from winnow.registry.tuning_id import config_key, defaults_fingerprint, key_of, tuning_id
from winnow.spaces import KnobAxis, Rule, TuningSpace

_NO_DEFAULTS = defaults_fingerprint({})  # every knob is in the key, so that no default shapes it

Knobs = Mapping[str, Any]
Admission = tuple[bool, str]


@dataclass(frozen=True)
class TunedSpec:
    """Base of a spec: plain fields, of which those in `CELL` say what is computed and the others are knobs.

    Raises:
        ValueError: a field is not of its declared type (True is not an int).
    """

    ALGORITHM: ClassVar[str]
    ABI: ClassVar[str]
    PLATFORM: ClassVar[str] = "cpu"
    """The kind of target that the spec's kernels are written for: part of the digest."""
    CELL: ClassVar[tuple[str, ...]]
    TOKENS: ClassVar[Mapping[str, str]]
    """What stands before each field's value in the kernel's name; every field has one."""
    SETTINGS: ClassVar[frozenset[str]] = frozenset()
    """Knobs that only the compiler's back end hears, and that it may leave without effect."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value).__name__ != field.type:
                raise ValueError(f"{self.ALGORITHM}: {field.name}={value!r} is not of type {field.type}")

    def items(self) -> Iterator[tuple[str, Any]]:
        """Every field with its value, in order."""
        return ((field.name, getattr(self, field.name)) for field in fields(self))

    @property
    def knobs(self) -> tuple[tuple[str, Any], ...]:
        """Every knob with its value, sorted by name."""
        return tuple(sorted((name, value) for name, value in self.items() if name not in self.CELL))

    @property
    def variant_id(self) -> str:
        """The algorithm and the cell."""
        return "_".join([self.ALGORITHM, *self._tokens(in_cell=True)])

    @property
    def config_key(self) -> str:
        """Digest of everything that shapes the kernel. The target is not part of it: one spec may suit several."""
        return config_key(
            abi=self.ABI,
            arch=self.PLATFORM,
            path=self.ALGORITHM,
            variant=self.variant_id,
            knobs=self.knobs,
            defaults=_NO_DEFAULTS,
        )

    @property
    def tuning_id(self) -> str:
        """The name under which a request can pin this spec."""
        return tuning_id(self.variant_id, self.config_key)

    def kernel_name(self) -> str:
        """A C identifier that no other spec has."""
        return "_".join([self.variant_id, *self._tokens(in_cell=False)])

    @property
    def symbol(self) -> str:
        """A C identifier that specs share when they differ in settings alone: equal code is an equal object then."""
        return "_".join([self.variant_id, *self._tokens(in_cell=False, but=self.SETTINGS)])

    def _tokens(self, *, in_cell: bool, but: frozenset[str] = frozenset()) -> Iterator[str]:
        shown = (item for item in self.items() if (item[0] in self.CELL) == in_cell and item[0] not in but)
        return (f"{self.TOKENS[name]}{value}" for name, value in shown)


S = TypeVar("S", bound=TunedSpec)


def _as_given(arch: str, knobs: Knobs) -> Knobs:
    return knobs


@dataclass(frozen=True)
class Algorithm(Generic[S]):
    """One algorithm: its spec, the axes of its knobs, and the rules between them.

    `kernel_rules` read knobs, the cell and facts of the target, and say whether a kernel can be built at all;
    `problem_rules` read sizes of the request as well, and say whether it serves them.
    """

    spec_type: type[S]
    axes: tuple[KnobAxis, ...]
    kernel_rules: tuple[Rule, ...]
    problem_rules: tuple[Rule, ...]
    sizes: tuple[str, ...]
    """The request's fields that the problem rules read."""
    defaults: Callable[[Any], Knobs]
    """Request → the value of every knob when none is pinned."""
    production: Callable[[Any], Iterable[Knobs]]
    """Request → knobs worth measuring, over the default; those that a rule refuses are passed over."""
    arches: tuple[str, ...] = CPU_ARCHES
    facts: Callable[[str], Knobs] = target_facts
    """Target → what rules may read of it."""
    canonical_knobs: Callable[[str, Knobs], Knobs] = _as_given
    """(target, every knob) → the knobs that stand for all that make the same kernel: specs have no others."""

    def space(self, request: Any) -> TuningSpace:
        """The whole space of the request's cell on its target."""
        return TuningSpace(self.axes, (*self.kernel_rules, *self.problem_rules), self._given(request))

    def select(self, request: Any) -> S:
        """The spec that the request's pins name, else the default.

        Raises:
            ValueError: an unknown knob, a value that is not on its axis, a rule that does not hold, or a tuning id
                that is not this algorithm's.
        """
        pinned = self.canonical(request, dict(request.tuning_knobs))
        wanted = request.tuning_id
        if wanted.strip().lower() == "auto":
            return pinned
        try:
            key = key_of(wanted)
        except InputError as error:
            raise ValueError(str(error)) from None
        if key == pinned.config_key:
            return pinned
        if request.tuning_knobs:
            raise ValueError(f"the knobs make {pinned.tuning_id}, not the pinned {wanted}")
        for spec in self.specs(request):
            if key == spec.config_key:
                return spec
        raise ValueError(f"no production spec has the tuning id {wanted}; pin its knobs as well")

    def canonical(self, request: Any, knobs: Knobs) -> S:
        """The spec of these knobs over the default ones. Raises ValueError as `select` does."""
        point = self._over_defaults(request, knobs)
        reason = self._refusal(self._given(request) | point, (*self.kernel_rules, *self.problem_rules))
        if reason is not None:
            raise ValueError(reason)
        return self._spec(request, point)

    def specs(self, request: Any) -> Iterator[S]:
        """The default spec, then the others worth measuring, each once."""
        given, seen = self._given(request), set[S]()
        for knobs in ({}, *self.production(request)):
            point = self._over_defaults(request, knobs)
            if self._refusal(given | point, (*self.kernel_rules, *self.problem_rules)) is None:
                spec = self._spec(request, point)
                if spec not in seen:
                    seen.add(spec)
                    yield spec

    def _over_defaults(self, request: Any, knobs: Knobs) -> dict[str, Any]:
        defaults = dict(self.defaults(request))
        for name in knobs:
            if name not in defaults:
                raise ValueError(f'{self.spec_type.ALGORITHM} has no knob "{name}"; {nearest(name, defaults)}')
        point = {**defaults, **knobs}
        reason = self._off_axis(point)
        if reason is not None:
            raise ValueError(reason)
        return dict(self.canonical_knobs(request.arch, point))

    def _spec(self, request: Any, point: Knobs) -> S:
        return self.spec_type(**{name: getattr(request, name) for name in self.spec_type.CELL}, **point)

    def supports(self, spec: Any, arch: str) -> Admission:
        """Whether the kernel of `spec` can be built for `arch`, and why not."""
        if not isinstance(spec, self.spec_type):
            return False, f"{type(spec).__name__} is not a {self.spec_type.__name__}"
        if arch not in self.arches:
            return False, f"{self.spec_type.ALGORITHM} is not written for {arch}"
        values = {**dict(spec.items()), **self.facts(arch)}
        reason = self._refusal(values, self.kernel_rules)
        return reason is None, reason or ""

    def _given(self, request: Any) -> dict[str, Any]:
        names = (*self.spec_type.CELL, *self.sizes)
        return {**{name: getattr(request, name) for name in names}, **self.facts(request.arch)}

    def _off_axis(self, point: Knobs) -> str | None:
        for axis in self.axes:
            if axis.choice_of({axis.name: point[axis.name]}) is None:
                shown = ", ".join(repr(value) for value in axis.column(axis.name))
                return f"{axis.name}={point[axis.name]!r} is not one of {shown}"
        return None

    def _refusal(self, values: Knobs, rules: tuple[Rule, ...]) -> str | None:
        reason = self._off_axis(values)
        if reason is not None:
            return reason
        for rule in rules:
            read = {name: values[name] for name in rule.reads}
            if not rule(**read):
                return f"{rule.text}: " + ", ".join(f"{name}={value!r}" for name, value in read.items())
        return None
