"""Gate `agreement`: what packed metadata advertises is what was compiled, by the records of the packed tree alone."""

from __future__ import annotations

from collections.abc import Iterator

from winnow.archive.sidecar import find_sidecar, read_sidecar
from winnow.descriptors.reading import descriptor_record
from winnow.errors import InputError, Place
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.packed import Packed
from winnow.gates.verdict import Finding, Verdict, incomplete, judged
from winnow.pack.records import record_problem
from winnow.wording import amount


def check(inspection: Inspection) -> Verdict:
    """Rebuild every record of what was compiled, for which neither builder nor compiler is needed.

    `structural` only looks whether each kernel has a record that belongs to it, and says that nothing was compared.
    """
    judge = disagreements if inspection.mode == "full" else _unrecorded
    findings = [finding for packed in inspection.packed for finding in judge(packed)]
    kernels = sum(len(list(packed.catalog.kernels())) for packed in inspection.packed)
    if inspection.mode == "structural" and not findings:
        return incomplete(
            "agreement",
            f"compiled specialization agreement: NOT CHECKED for {amount(kernels, 'kernels')} (--mode full checks it)",
        )
    return judged(
        "agreement", f"{amount(kernels, 'kernels')} in {amount(len(inspection.packed), 'packed shards')}", findings
    )


def disagreements(packed: Packed) -> Iterator[Finding]:
    """Every kernel of a shard whose descriptor, object and record do not agree, or why the shard cannot be opened."""
    try:
        shard = packed.shard
    except InputError as error:
        yield Finding(packed.arch, error.message, error.place)
        return
    catalog = packed.catalog
    for file, kdp in catalog.kdps:
        for kernel in kdp.kernels:
            problem = record_problem(catalog, kdp, kernel, shard.provenance[kernel.id], str(shard.root / file))
            if problem is not None:
                yield Finding(kernel.name, problem, Place(str(shard.root / file)))


def _unrecorded(packed: Packed) -> Iterator[Finding]:
    for file, kdp in packed.catalog.kdps:
        place = Place(str(packed.root / file))
        try:
            entries = read_sidecar(find_sidecar(packed.root / file))
        except InputError as error:
            yield Finding(kdp.name, error.message, error.place)
            continue
        for kernel in kdp.kernels:
            entry = entries.get(kernel.id)
            if entry is None or not entry.belongs_to(descriptor_record(kernel)):
                yield Finding(kernel.name, "has no record that belongs to it: NOT CHECKED", place)


GATE = Gate("agreement", ("archive",), check, order=160)
