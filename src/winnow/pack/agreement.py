"""What metadata advertises must be what the compiler baked: observe the real spec, compare, and record it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from winnow.descriptors.documents import Kdp, Ukd
from winnow.descriptors.tree import Catalog
from winnow.errors import InputError, Place, Refused
from winnow.identity import sha256_hex
from winnow.pack.hydrate import Hydrated
from winnow.settings.fields import KmdField, Scalar
from winnow.settings.header import Binding
from winnow.strict.document import Document
from winnow.strict.schema import StrictModel, validate


class Consumer(StrictModel):
    """One engine's claim about how its metadata follows from a spec."""

    engine_id: str
    kmd_id: str
    metadata_fields: list[str]
    matcher_only_fields: list[str]
    bindings: dict[str, Binding]
    vocabulary: dict[str, dict[str, Scalar]]


class Contract(StrictModel):
    """The `specialization_contract` of a kernel pack."""

    schema_version: Literal[1]
    consumers: list[Consumer]


@dataclass(frozen=True)
class Claim:
    """A contract as it is written, and the part of it that is about the catalog's engine."""

    written: Mapping[str, Any]
    consumer: Consumer


@dataclass(frozen=True)
class Observed:
    """What a spec object really says, in its own spelling, by metadata field; and the code that said so."""

    values: Mapping[str, Any]
    producers: Mapping[str, Mapping[str, str]]
    code: tuple[Any, ...]


def claim_of(catalog: Catalog, file: str, kdp: Kdp) -> Claim:
    """What a pack's contract claims for this catalog's engine.

    Raises:
        InputError: there is none, it is malformed, it is about another engine, or its lists do not partition the
            metadata fields.
    """
    written = (kdp.provenance or {}).get("specialization_contract")
    if not isinstance(written, dict):
        raise InputError(
            "no specialization contract: nothing says how the metadata follows from what is compiled",
            place=Place(file, key="provenance.specialization_contract"),
            cure="run `winnow generate` to write the catalog anew",
        )
    return check_claim(catalog, file, written)


def check_claim(catalog: Catalog, file: str, written: Mapping[str, Any]) -> Claim:
    """`claim_of` for a contract that stands by itself."""
    key = "provenance.specialization_contract"
    document = Document(file, {"provenance": {"specialization_contract": dict(written)}}, {})
    contract = validate(Contract, document, "provenance", "specialization_contract")
    wanted = (catalog.ued[1].id, catalog.kmd[1].id)
    mine = [consumer for consumer in contract.consumers if (consumer.engine_id, consumer.kmd_id) == wanted]
    if len(mine) != 1 or len(contract.consumers) != 1:
        raise InputError(
            f"the contract is not about this catalog's engine {wanted[0]} alone",
            place=Place(file, key=f"{key}.consumers"),
            cure="run `winnow generate` to write the catalog anew",
        )
    consumer = mine[0]
    declared = sorted(field.name for field in catalog.kmd[1].fields)
    if sorted([*consumer.metadata_fields, *consumer.matcher_only_fields]) != declared:
        raise InputError(
            "metadata_fields and matcher_only_fields do not split the declared fields between them",
            place=Place(file, key=f"{key}.consumers[0]"),
            cure=f"name each of {', '.join(declared)} in exactly one of the two",
        )
    for name in consumer.metadata_fields:
        if name not in consumer.bindings:
            raise InputError(f'no binding for "{name}"', place=Place(file, key=f"{key}.consumers[0].bindings"))
    return Claim(written, consumer)


def observe(hydrated: Hydrated, consumer: Consumer) -> Observed:
    """Read every bound value off the spec, twice.

    Algorithms that share an engine have specs of their own: a field that this spec's class does not have is not
    observed, and its metadata can only be the declared default.

    Raises:
        InputError: a method that the spec lacks, a method that needs arguments or raises, a value that
            changes between two readings or is not a JSON scalar, or a spec field declared as matcher-only.
    """
    authored, spec = hydrated.authored, hydrated.spec
    for name in consumer.matcher_only_fields:
        if name in authored.spec:
            raise authored.fail(f'"{name}" is matcher-only in the contract, but the spec bakes it', key=f"spec.{name}")
    values: dict[str, Any] = {}
    own = {item.name for item in fields(spec)}
    for name in consumer.metadata_fields:
        binding = consumer.bindings[name]
        if binding.field is not None and binding.field not in own:
            continue
        first, again = (_read(hydrated, binding, name) for _ in range(2))
        if first != again or type(first) is not type(again):
            raise authored.fail(f'"{name}" was {first!r} at one reading and {again!r} at the next', key="spec")
        values[name] = first
    code = {"builder": hydrated.builder, "spec": type(spec)}
    return Observed(values, {name: producer_identity(part) for name, part in code.items()}, tuple(code.values()))


def _read(hydrated: Hydrated, binding: Binding, name: str) -> Any:
    authored, spec = hydrated.authored, hydrated.spec
    cls = type(spec).__name__
    if binding.field is not None:
        value = getattr(spec, binding.field)
    else:
        found = inspect.getattr_static(spec, binding.method or "", None)
        if not inspect.isfunction(found) or len(inspect.signature(found).parameters) != 1:
            raise authored.fail(
                f'"{name}" is bound to {cls}.{binding.method}, which is not a method without arguments',
                key="spec",
                cure="make it one, or bind the metadata field to a field of the spec",
            )
        try:
            value = found(spec)
        except Exception as error:
            problem = f"{cls}.{binding.method}() raised {type(error).__name__}: {error}"
            raise authored.fail(problem, key="spec") from error
    flat = value if isinstance(value, list) else [value]
    if not all(item is None or type(item) in (bool, int, float, str) for item in flat):
        raise authored.fail(f'"{name}" is {value!r}, which metadata cannot hold', key="spec")
    return value


def producer_identity(code: Any) -> dict[str, str]:
    """Identity of a function or class by its name and its file's content, without the path that it has here.

    Raises:
        InputError: it has no source file.
    """
    try:
        path = Path(inspect.getsourcefile(code) or "")
        digest = sha256_hex(path.read_bytes())
    except (TypeError, OSError) as error:
        raise InputError(f"the source file of {code.__module__}.{code.__qualname__} cannot be read: {error}") from None
    return {"module": code.__module__, "qualname": code.__qualname__, "file": path.name, "sha256": digest}


def advertised(values: Mapping[str, Any], consumer: Consumer, declared: Mapping[str, KmdField], name: str) -> Any:
    """An observed value in the spelling and the type that metadata has for it; None stays None."""
    value = values[name]
    words = consumer.vocabulary.get(name)
    if words is not None and value is not None:
        value = words.get(str(value), value)
    if declared[name].type == "int" and isinstance(value, bool):
        return int(value)
    if declared[name].type == "float" and type(value) is int:
        return float(value)
    return value


def disagreement(catalog: Catalog, kernel: Ukd, consumer: Consumer, values: Mapping[str, Any]) -> str | None:
    """The first metadata field that says something else than was observed, as a sentence; None where all agree."""
    declared = {field.name: field for field in catalog.kmd[1].fields}
    completed = catalog.completed_metadata(kernel)
    for name in consumer.metadata_fields:
        said, default = completed[name], declared[name].default_value
        if name not in values:
            if default is None or said != default:
                return f"metadata says {name} = {said!r}, but the kernel's spec has no such field"
            continue
        true = advertised(values, consumer, declared, name)
        if true is None:
            return f'metadata says {name} = {said!r}, but the spec leaves "{name}" to the kernel\'s policy'
        if said != true or type(said) is not type(true):
            return f"metadata says {name} = {said!r}, but {true!r} is what is compiled"
    return None


def check_agreement(catalog: Catalog, kernel: Ukd, consumer: Consumer, observed: Observed, place: Place) -> None:
    """Refuse a kernel whose metadata is not what its spec says.

    Raises:
        Refused: with the field, what metadata says of it and what the spec does.
    """
    problem = disagreement(catalog, kernel, consumer, observed.values)
    if problem is not None:
        raise Refused(
            f"{kernel.name}: {problem}",
            place=place,
            cure="run `winnow generate`; if that changes nothing, correct the bindings or the vocabulary",
        )
