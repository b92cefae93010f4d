"""The records that a packed kernel carries of where it came from, and rebuilding them from the packed tree alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from winnow.descriptors.documents import Kdp, Ukd
from winnow.descriptors.reading import descriptor_record
from winnow.descriptors.tree import Catalog
from winnow.errors import InputError
from winnow.identity import record_digest
from winnow.pack.agreement import Claim, Consumer, Observed, check_claim, disagreement
from winnow.settings.fields import Scalar
from winnow.strict.document import Document
from winnow.strict.schema import StrictModel, validate

SCHEMA_VERSION = 1


def authored_record(source: str, builder: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """What a kernel is built from, as far as its descriptor says."""
    return {"source": source, "builder": builder, "spec": dict(spec)}


def consumer_record(catalog: Catalog, kdp: Kdp, kernel: Ukd, written: Mapping[str, Any]) -> dict[str, Any]:
    """Digests of everything that a claim of agreement rests on, from the descriptors of a packed tree."""
    header = kdp.model_dump(by_alias=True, exclude_none=True, exclude={"provenance", "kernels"})
    return {
        "ukd_id": kernel.id,
        "engine": record_digest(descriptor_record(catalog.ued[1])),
        "kmd": record_digest(descriptor_record(catalog.kmd[1])),
        "metadata": record_digest(catalog.completed_metadata(kernel)),
        "kdp": record_digest(header),
        "effective_arch": kdp.arch_of(kernel),
        "declaration": record_digest(written),
    }


def effective_spec(
    catalog: Catalog, kdp: Kdp, packed: Ukd, authored: Mapping[str, Any], claim: Claim, observed: Observed
) -> dict[str, Any]:
    """The record that a packed kernel's metadata agreed with the spec that it was compiled from.

    `kdp` and `packed` are the descriptors as they are shipped, `authored` is the `authored_record`.
    """
    bindings = claim.consumer.bindings
    accessors = {name: bindings[name].model_dump(exclude_none=True) for name in observed.values}
    return {
        "schema_version": SCHEMA_VERSION,
        "authored_digest": record_digest(authored),
        "observations": {
            "producer": {name: dict(identity) for name, identity in observed.producers.items()},
            "requests": {record_digest(accessors): {"values": dict(observed.values), "accessors": accessors}},
            "arch": packed.arch,
            "symbol": packed.kernel_source["symbol"],
            "code_object_sha256": packed.kernel_source["sha256"],
        },
        "consumers": [consumer_record(catalog, kdp, packed, claim.written)],
        "descriptor_digest": record_digest(descriptor_record(packed)),
    }


class _Request(StrictModel):
    values: dict[str, Scalar | list[int] | None]
    accessors: dict[str, dict[str, str]]


class _Observations(StrictModel):
    producer: dict[str, dict[str, str]]
    requests: dict[str, _Request]
    arch: list[str]
    symbol: str
    code_object_sha256: str


class _EffectiveSpec(StrictModel):
    schema_version: Literal[1]
    authored_digest: str
    observations: _Observations
    consumers: list[dict[str, Any]]
    descriptor_digest: str


def record_problem(catalog: Catalog, kdp: Kdp, kernel: Ukd, provenance: Mapping[str, Any], file: str) -> str | None:
    """What a packed kernel's provenance and its descriptor do not agree on, as a sentence; None where they agree.

    Needs neither the builder nor its compiler: every digest is rebuilt from the descriptors at hand.
    """
    try:
        record = validate(_EffectiveSpec, Document(file, dict(provenance), {}), "effective_spec")
        written = provenance["specialization_contract"]
        claim = check_claim(catalog, file, written)
        authored = authored_record(*(provenance[key] for key in ("source", "builder", "spec")))
    except KeyError as error:
        return f"its provenance has no {error.args[0]}"
    except InputError as error:
        return f"its provenance cannot be used: {error.message}"
    if len(record.observations.requests) != 1:
        return "its provenance does not hold exactly one observation"
    (digest, request), *_ = record.observations.requests.items()
    source = kernel.kernel_source
    rebuilt = (
        ("what was authored", record.authored_digest, record_digest(authored)),
        ("what was asked of the spec", digest, record_digest(request.accessors)),
        ("the descriptor", record.descriptor_digest, record_digest(descriptor_record(kernel))),
        ("the code object", record.observations.code_object_sha256, source.get("sha256")),
        ("the symbol", record.observations.symbol, source.get("symbol")),
        ("the arch", record.observations.arch, kdp.arch_of(kernel)),
        ("the consumers", record.consumers, [consumer_record(catalog, kdp, kernel, written)]),
    )
    for what, recorded, found in rebuilt:
        if recorded != found:
            return f"{what} is not what was recorded (recorded {recorded}, found {found})"
    if set(request.values) != set(request.accessors):
        return "its provenance does not hold one value for each that was asked for"
    for name, value in request.values.items():
        problem = _observation_problem(name, value, request.accessors[name], claim.consumer, authored["spec"])
        if problem is not None:
            return problem
    return disagreement(catalog, kernel, claim.consumer, request.values)


def _observation_problem(
    name: str, value: Any, accessor: Mapping[str, str], consumer: Consumer, spec: Mapping[str, Any]
) -> str | None:
    """Why a recorded observation cannot be one of the authored spec, as far as that can be told without its class."""
    binding = consumer.bindings.get(name)
    if binding is None or binding.model_dump(exclude_none=True) != accessor:
        return f'"{name}" was observed by {dict(accessor)}, which is not how the contract binds it'
    if binding.field is None or binding.field not in spec:  # only the builder's module knows
        return None
    stated = spec[binding.field]
    if stated != value or isinstance(stated, bool) != isinstance(value, bool):
        return f'"{name}" was observed as {value!r}, but the spec states {binding.field} = {stated!r}'
    return None
