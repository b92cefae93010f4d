"""The contract of tuned candidates: a broken candidate must not pass it, or pins of users go to other kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from winnow.errors import Refused
from winnow.registry.request import OperatorRequest
from winnow.registry.testing import assert_tuning_contract
from winnow.registry.tuning_id import config_key, key_of, tuning_id
from winnow.spaces import TuningSpace, choices


@dataclass(frozen=True)
class Request(OperatorRequest):
    arch: str = "x86-64-v3"
    dtype: str = "fp32"
    rows: int = 64


@dataclass(frozen=True)
class Spec:
    dtype: str
    tile: int
    unroll: int
    salt: str = ""

    @property
    def variant_id(self) -> str:
        return f"toy_{self.dtype}"

    @property
    def knobs(self) -> tuple[tuple[str, int], ...]:
        return (("tile", self.tile), ("unroll", self.unroll))

    @property
    def config_key(self) -> str:
        return config_key(abi="v1", arch="cpu", path="toy", variant=self.variant_id + self.salt, knobs=self.knobs)

    @property
    def tuning_id(self) -> str:
        return tuning_id(self.variant_id, self.config_key)


DEFAULTS = {"tile": 4, "unroll": 1}
SPACE = TuningSpace((choices("tile", [2, 4, 8]), choices("unroll", [1, 2])))


def production(request: Any) -> Iterator[Spec]:
    for tile in (4, 2, 8):
        yield Spec(request.dtype, tile, 1)


def select(request: Any) -> Spec:
    point = DEFAULTS | dict(request.tuning_knobs)
    reason = SPACE.explain(point)
    if reason is not None:
        raise Refused(reason)
    pinned = Spec(request.dtype, **point)
    if request.tuning_id == "auto" or key_of(request.tuning_id) == pinned.config_key:
        return pinned
    if not request.tuning_knobs:
        for spec in production(request):
            if key_of(request.tuning_id) == spec.config_key:
                return spec
    raise Refused("the id is of other knobs")


@dataclass(frozen=True)
class Toy:
    """A candidate that keeps the contract; each field is what a test replaces."""

    name: str = "toy"
    algorithm: str = "toy"
    spec_id: str = "toy"
    admits: Callable[[Any], tuple[bool, str]] = lambda request: (True, "")
    sweep_space: Callable[[Any], Iterator[Spec]] = production
    select_spec: Callable[[Any], Spec] = select
    space: Any = field(default=lambda request: SPACE)


REQUESTS = [Request(), Request(dtype="fp64")]


def test_a_candidate_that_keeps_the_contract_passes_and_says_what_was_checked() -> None:
    checked = assert_tuning_contract(
        Toy(),
        REQUESTS,
        other_requests=[Request(rows=8)],
        default_knobs=[{}, {"tile": 4}],
        refused_knobs=[{"tile": 3}, {"tile": 4, "unroll": 7}],
        max_replays=2,
        sample=3,
    )
    assert checked == {"requests": 2, "specs": 6, "replays": 10, "portable": 5}


def forgets_the_knobs(request: Any) -> Spec:
    return select(replace(request, tuning_knobs=()))


def trusts_the_id(request: Any) -> Spec:
    return select(replace(request, tuning_id="auto"))


def reads_the_stem(request: Any) -> Spec:
    if request.tuning_id != "auto" and "_wpenone@" not in request.tuning_id:
        raise ValueError("unknown stem")
    return select(request)


def knows_no_id_alone(request: Any) -> Spec:
    if request.tuning_id != "auto" and not request.tuning_knobs:
        raise ValueError("knobs, please")
    return select(request)


def depends_on_the_problem(request: Any) -> Spec:
    return replace(select(replace(request, tuning_id="auto")), salt="" if request.rows == 64 else "small")


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        ({"admits": lambda request: (False, "no such luck")}, "toy does not admit .*: no such luck"),
        ({"sweep_space": lambda request: iter(())}, "toy has no production spec"),
        ({"sweep_space": lambda request: reversed(list(production(request)))}, "default is not the first production"),
        ({"sweep_space": lambda request: [*production(request)] * 2}, "two specs share the id"),
        ({"select_spec": forgets_the_knobs}, "by (id and )?knobs gives|is not refused"),
        ({"select_spec": trusts_the_id}, "is not refused but gives|by id alone gives"),
        ({"select_spec": reads_the_stem}, "unknown stem"),
        ({"select_spec": knows_no_id_alone}, "knobs, please"),
    ],
)
def test_a_broken_candidate_does_not_pass(broken: dict[str, Any], complaint: str) -> None:
    with pytest.raises((AssertionError, ValueError), match=complaint):
        assert_tuning_contract(replace(Toy(), **broken), REQUESTS)


def test_knobs_that_should_give_the_default_or_be_refused_are_checked() -> None:
    with pytest.raises(AssertionError, match="does not give the default"):
        assert_tuning_contract(Toy(), REQUESTS, default_knobs=[{"tile": 8}])
    with pytest.raises(AssertionError, match="is not refused"):
        assert_tuning_contract(Toy(), REQUESTS, refused_knobs=[{"tile": 8}])


def test_a_key_that_changes_with_the_problem_does_not_pass() -> None:
    with pytest.raises(AssertionError, match="changes its key with the request"):
        assert_tuning_contract(
            replace(Toy(), select_spec=depends_on_the_problem, space=None),
            [Request()],
            other_requests=[Request(rows=8)],
            max_replays=0,
        )
