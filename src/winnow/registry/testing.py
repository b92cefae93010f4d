"""The contract of a tuned candidate, as one assertion that a family's tests call for every candidate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from winnow.errors import WinnowError
from winnow.identity import spec_identity
from winnow.registry.request import opt_in_probe, pin_to_spec
from winnow.registry.tuning_id import Knobs, key_of, names_variant, sorted_knobs

_REFUSALS = (ValueError, WinnowError)


def assert_tuning_contract(
    candidate: Any,
    requests: Sequence[Any],
    other_requests: Sequence[Any] = (),
    default_knobs: Iterable[Mapping[str, Any]] = (),
    refused_knobs: Iterable[Mapping[str, Any]] = (),
    max_replays: int = 6,
    sample: int = 6,
    seed: int = 0,
) -> dict[str, int]:
    """Check that every spec of `candidate` can be named, pinned and found again, and nothing else can.

    For each request: the default is the first production spec; ids are unique and well formed; a spec comes back by
    (id, knobs), by its knobs, by its id under another readable stem, by its pinned request and, if it is a production
    spec, by its id alone; an id with the knobs of another spec is refused. Every mapping of `default_knobs` gives the
    default, every one of `refused_knobs` is refused. A configuration that `other_requests` accept for the same variant
    keeps its key.

    Returns:
        How much was checked: `requests`, `specs`, `replays`, `portable`.

    Raises:
        AssertionError: says which part of the contract is broken, by which spec.
    """
    checked = {"requests": 0, "specs": 0, "replays": 0, "portable": 0}
    assert requests, "the contract needs a request at least"
    for request in requests:
        probe = opt_in_probe(request, candidate)
        admitted, reason = candidate.admits(probe)
        assert admitted, f"{candidate.name} does not admit {request}: {reason}"
        production = list(candidate.sweep_space(probe))
        assert production, f"{candidate.name} has no production spec for {request}"
        default = _select(candidate, probe, "auto", ())
        assert _same(default, production[0]), "the default is not the first production spec"
        _assert_named(production)
        drawn = list(_sampled(candidate, probe, sample, seed))
        replayed = [*_spread(production, max_replays), *drawn]
        for i, spec in enumerate(replayed):
            _assert_found(candidate, probe, spec, alone=i < len(replayed) - len(drawn))
            _assert_mismatch_refused(candidate, probe, spec, replayed)
        for knobs in default_knobs:
            found = _select(candidate, probe, "auto", sorted_knobs(knobs))
            assert _same(found, default), f"{dict(knobs)} does not give the default but {found.tuning_id}"
        for knobs in refused_knobs:
            _assert_refused(candidate, probe, "auto", sorted_knobs(knobs))
        checked["requests"] += 1
        checked["specs"] += len(production)
        checked["replays"] += len(replayed)
        checked["portable"] += sum(_portable(candidate, other, replayed) for other in other_requests)
    return checked


def _select(candidate: Any, probe: Any, tuning_id: str, knobs: Knobs) -> Any:
    return candidate.select_spec(replace(probe, tuning_id=tuning_id, tuning_knobs=knobs))


def _same(one: Any, other: Any) -> bool:
    return one.tuning_id == other.tuning_id and spec_identity(one) == spec_identity(other)


def _assert_named(specs: Sequence[Any]) -> None:
    owners: dict[str, Any] = {}
    for spec in specs:
        assert spec.tuning_id not in owners, f"two specs share the id {spec.tuning_id}"
        owners[spec.tuning_id] = spec
        assert spec.tuning_id.endswith(f"@{key_of(spec.tuning_id)}")
        assert key_of(spec.tuning_id) == spec.config_key, f"{spec.tuning_id} does not end with its key"
        assert names_variant(spec.tuning_id, spec.variant_id), f"{spec.tuning_id} does not name {spec.variant_id}"
        assert tuple(spec.knobs) == sorted_knobs(spec.knobs), f"the knobs of {spec.tuning_id} are not sorted"
        assert spec_identity(spec) == spec_identity(spec), f"the identity of {spec.tuning_id} is not stable"
    assert len({spec_identity(spec) for spec in specs}) == len(specs), "two ids name one spec"


def _spread(specs: Sequence[Any], most: int) -> list[Any]:
    """At most `most` specs, evenly over the list, the first among them."""
    step = max(1, -(-len(specs) // max(1, most)))
    return list(islice(specs, 0, None, step))


def _sampled(candidate: Any, probe: Any, n: int, seed: int) -> Iterator[Any]:
    """Specs of the whole space, where the candidate says what that is."""
    if getattr(candidate, "space", None) is not None:
        for point in candidate.space(probe).sample(n, seed):
            yield _select(candidate, probe, "auto", sorted_knobs(point))
    elif hasattr(candidate, "sample_space"):
        yield from candidate.sample_space(probe, n, seed)


def _assert_found(candidate: Any, probe: Any, spec: Any, *, alone: bool) -> None:
    knobs, key = tuple(spec.knobs), key_of(spec.tuning_id)
    ways = {
        "id and knobs": (spec.tuning_id, knobs),
        "knobs": ("auto", knobs),
        "id under another stem": (f"{spec.variant_id}_wpe99@{key}", knobs),
    }
    if alone:
        ways["id alone"] = (spec.tuning_id, ())
    for way, (identifier, given) in ways.items():
        found = _select(candidate, probe, identifier, given)
        assert _same(found, spec), f"{spec.tuning_id} by {way} gives {found.tuning_id}"
    pinned = candidate.select_spec(pin_to_spec(probe, candidate, spec))
    assert _same(pinned, spec), f"the pinned request of {spec.tuning_id} gives {pinned.tuning_id}"


def _assert_mismatch_refused(candidate: Any, probe: Any, spec: Any, others: Sequence[Any]) -> None:
    other = next((o for o in others if o.config_key != spec.config_key and o.knobs), None)
    if other is not None:
        _assert_refused(candidate, probe, spec.tuning_id, tuple(other.knobs))


def _assert_refused(candidate: Any, probe: Any, tuning_id: str, knobs: Knobs) -> None:
    try:
        found = _select(candidate, probe, tuning_id, knobs)
    except _REFUSALS:
        return
    raise AssertionError(f"({tuning_id}, {dict(knobs)}) is not refused but gives {found.tuning_id}")


def _portable(candidate: Any, other: Any, specs: Iterable[Any]) -> int:
    probe, kept = opt_in_probe(other, candidate), 0
    for spec in specs:
        try:
            found = _select(candidate, probe, "auto", tuple(spec.knobs))
        except _REFUSALS:
            continue
        if (found.variant_id, tuple(found.knobs)) == (spec.variant_id, tuple(spec.knobs)):
            assert found.config_key == spec.config_key, f"{spec.tuning_id} changes its key with the request"
            kept += 1
    return kept
