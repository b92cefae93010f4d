"""Metadata that says something else than the binary was compiled for makes the engine run wrong kernels."""

from __future__ import annotations

import dataclasses
from typing import Any

import pack_samples as samples
import pytest

from winnow.descriptors.documents import Ukd
from winnow.errors import InputError, Place, Refused
from winnow.pack.agreement import Observed, check_agreement, claim_of, observe
from winnow.pack.hydrate import Authored, Hydrated, hydrate

RICH = {"ratio": 1.5, "mode": "a", "inner": {"depth": 2}}


def hydrated(builder: str = "pack_samples.build_sample", spec: dict[str, Any] | None = None) -> Hydrated:
    module, name = builder.split(".")
    spec = {"dtype": "fp32", "tile": 4, "fast": True} if spec is None else spec
    return hydrate(Authored("k1", Place("main.kdp.json"), module, name, spec), allowed=frozenset({module}))


def consumer(**changed: Any) -> Any:
    found = samples.catalog(samples.kernel("k"), provenance=samples.contract(**changed))
    return claim_of(found, *found.kdps[0]).consumer


def judged(kernel: Ukd, spec: dict[str, Any] | None = None, **changed: Any) -> None:
    found = samples.catalog(kernel, provenance=samples.contract(**changed))
    claim = claim_of(found, *found.kdps[0])
    check_agreement(found, kernel, claim.consumer, observe(hydrated(spec=spec), claim.consumer), Place("main.kdp.json"))


def test_observed_values_are_the_specs_own() -> None:
    observed = observe(hydrated(), consumer())
    assert observed.values == {"dtype": "fp32", "tile": 4, "fast": True, "tile_multiple": 8}
    assert observed.producers["builder"]["qualname"] == "build_sample"
    assert "/" not in observed.producers["builder"]["file"]


def test_metadata_that_agrees_passes_in_its_own_spelling_and_type() -> None:
    judged(samples.kernel("k1", tile=4, fast=True))


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"tile": 8}, "metadata says tile = 8, but 4 is what is compiled"),
        ({"tile_multiple": 4}, "metadata says tile_multiple = 4, but 8 is what is compiled"),
        ({"dtype": "fp32"}, "metadata says dtype = 'fp32', but 'FLOAT' is what is compiled"),
        ({"fast": True}, "metadata says fast = True, but 1 is what is compiled"),
        ({"tile": 4.0}, "metadata says tile = 4.0, but 4 is what is compiled"),
    ],
)
def test_metadata_edited_alone_is_refused(metadata: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused) as error:
        judged(samples.kernel("k1", tile=4, fast=True, metadata=metadata))
    assert str(error.value) == (
        f"main.kdp.json: k1: {said}\n"
        "  cure: run `winnow generate`; if that changes nothing, correct the bindings or the vocabulary"
    )


def test_a_default_counts_as_metadata() -> None:
    kernel = samples.kernel("k1", tile=4, fast=True)
    silent = kernel.model_copy(update={"metadata": {k: v for k, v in kernel.metadata.items() if k != "fast"}})
    with pytest.raises(Refused, match="metadata says fast = 0, but 1 is what is compiled"):
        judged(silent)


def test_a_value_left_to_the_kernels_policy_cannot_agree() -> None:
    found = samples.catalog(samples.kernel("k1"))
    claim = claim_of(found, *found.kdps[0])
    observed = dataclasses.replace(observe(hydrated(), claim.consumer), values={"dtype": "fp32", "tile": None})
    with pytest.raises(Refused, match='metadata says tile = 4, but the spec leaves "tile" to the kernel\'s policy'):
        check_agreement(found, samples.kernel("k1"), claim.consumer, observed, Place("f"))


def test_floats_are_compared_as_numbers() -> None:
    claim = consumer()
    values = {"dtype": "fp32", "tile": 4, "fast": 0, "tile_multiple": 4}
    found = samples.catalog(samples.kernel("k1"))
    kmd = found.kmd[1].model_copy(
        update={"fields": [f.model_copy(update={"type": "float"}) if f.name == "tile" else f for f in samples.FIELDS]}
    )
    found = dataclasses.replace(found, kmd=(found.kmd[0], kmd))
    kernel = samples.kernel("k1", metadata={"tile": 4.0})
    check_agreement(found, kernel, claim, Observed(values, {}, ()), Place("f"))


CURE = "\n  cure: make it one, or bind the metadata field to a field of the spec"


@pytest.mark.parametrize(
    ("binding", "said"),
    [
        *(
            ({"method": name}, f'"tile" is bound to RichSpec.{name}, which is not a method without arguments{CURE}')
            for name in ("nope", "ratio", "needs", "breaking")
        ),
        ({"method": "broken"}, "RichSpec.broken() raised RuntimeError: no hardware"),
        ({"method": "weird"}, "\"tile\" is {'a': 1}, which metadata cannot hold"),
    ],
)
def test_bindings_that_observe_nothing(binding: dict[str, str], said: str) -> None:
    claim = consumer(
        metadata_fields=["tile"], matcher_only_fields=["dtype", "fast", "tile_multiple"], bindings={"tile": binding}
    )
    with pytest.raises(InputError) as error:
        observe(hydrated("pack_bad_builders.build_rich", RICH), claim)
    assert str(error.value) == f"main.kdp.json: kernel_source.spec: k1: {said}"


def test_a_field_that_this_algorithms_spec_lacks_can_only_be_advertised_as_the_default() -> None:
    bindings = {**samples.BINDINGS, "fast": {"field": "only_other_algorithms_have_it"}}
    judged(samples.kernel("k1", tile=4), {"dtype": "fp32", "tile": 4}, bindings=bindings)
    with pytest.raises(Refused, match="metadata says fast = 1, but the kernel's spec has no such field"):
        judged(samples.kernel("k1", tile=4, metadata={"fast": 1}), {"dtype": "fp32", "tile": 4}, bindings=bindings)


def test_a_value_that_changes_between_readings_is_refused() -> None:
    with pytest.raises(InputError) as error:
        observe(
            hydrated("pack_bad_builders.build_rich", RICH),
            consumer(
                metadata_fields=["tile"],
                matcher_only_fields=["dtype", "fast", "tile_multiple"],
                bindings={"tile": {"method": "fickle"}},
            ),
        )
    assert str(error.value).endswith('k1: "tile" was 1 at one reading and 2 at the next')


def test_a_field_that_the_spec_bakes_cannot_be_matcher_only() -> None:
    claim = consumer(
        metadata_fields=["dtype", "fast", "tile_multiple"],
        matcher_only_fields=["tile"],
        bindings={k: v for k, v in samples.BINDINGS.items() if k != "tile"},
    )
    with pytest.raises(InputError) as error:
        observe(hydrated(), claim)
    assert str(error.value) == (
        'main.kdp.json: kernel_source.spec.tile: k1: "tile" is matcher-only in the contract, but the spec bakes it'
    )


AT = "packs/main.kdp.json: provenance.specialization_contract"


@pytest.mark.parametrize(
    ("provenance", "said"),
    [
        (
            {"specialization_contract": None},
            f"{AT}: no specialization contract: nothing says how the metadata follows from what is compiled\n"
            "  cure: run `winnow generate` to write the catalog anew",
        ),
        (
            samples.contract(engine_id="another"),
            f"{AT}.consumers: the contract is not about this catalog's engine "
            "3546adb5-6ddc-5732-9625-2f2bc3a6ab56 alone\n"
            "  cure: run `winnow generate` to write the catalog anew",
        ),
        (
            samples.contract(metadata_fields=["dtype", "tile", "fast"]),
            f"{AT}.consumers[0]: metadata_fields and matcher_only_fields do not split the declared fields between "
            "them\n  cure: name each of dtype, fast, tile, tile_multiple in exactly one of the two",
        ),
        (
            samples.contract(matcher_only_fields=["tile"]),
            f"{AT}.consumers[0]: metadata_fields and matcher_only_fields do not split the declared fields between "
            "them\n  cure: name each of dtype, fast, tile, tile_multiple in exactly one of the two",
        ),
        (samples.contract(bindings={}), f'{AT}.consumers[0].bindings: no binding for "dtype"'),
        (
            samples.contract(bindigns={}),
            f'{AT}.consumers[0].bindigns: unknown key "bindigns"\n  cure: did you mean "bindings"?',
        ),
    ],
)
def test_contracts_that_claim_nothing(provenance: dict[str, Any], said: str) -> None:
    found = samples.catalog(samples.kernel("k"), provenance=provenance)
    with pytest.raises(InputError) as error:
        claim_of(found, *found.kdps[0])
    assert str(error.value) == said
