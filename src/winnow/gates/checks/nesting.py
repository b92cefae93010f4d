"""Gate `nesting`: whatever the reduced catalog ships is in the full one, and no binary is advertised twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from winnow.descriptors.documents import Kdp, Ukd
from winnow.descriptors.tree import Catalog
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.verdict import Finding, Verdict, incomplete, judged
from winnow.identity import canonical_json
from winnow.targets.tiers import compete, covers
from winnow.wording import amount

_Members = Mapping[str, list[tuple[Kdp, Ukd]]]


def check(inspection: Inspection) -> Verdict:
    """Compare what kernels are compiled from, and of packed shards the objects themselves."""
    (_, full), *reduced = inspection.catalogs
    findings = [*_twins(full)]
    for root, catalog in reduced:
        findings += _missing(catalog, full, root)
    big, small = inspection.archives
    packed = [
        (one, full_one)
        for one in inspection.packed
        if one.archive == small and (full_one := inspection.shard(big, one.arch))
    ]
    for one, full_one in packed:
        findings += _missing(one.catalog, full_one.catalog, one.root)
    kernels = sum(1 for _ in full.kernels())
    summary = ", ".join(
        [amount(kernels, "kernels"), amount(len(reduced), "reduced catalogs"), amount(len(packed), "shards")]
    )
    if not reduced and not packed and not findings:
        return incomplete("nesting", f"{summary}: nothing to compare; run `winnow reduce` first")
    return judged("nesting", summary, findings)


def _binary(kernel: Ukd) -> str:
    """What decides which machine code a kernel is, apart from its target."""
    source = kernel.kernel_source
    if source.get("kind") == "kpack":
        return canonical_json([source.get("sha256"), source.get("symbol")])
    return canonical_json(source)


def _members(catalog: Catalog) -> _Members:
    members: dict[str, list[tuple[Kdp, Ukd]]] = {}
    for kdp, kernel in catalog.kernels():
        members.setdefault(_binary(kernel), []).append((kdp, kernel))
    return members


def _missing(small: Catalog, big: Catalog, root: Path) -> Iterator[Finding]:
    offered = _members(big)
    for kdp, kernel in small.kernels():
        arch = kdp.arch_of(kernel)
        same = offered.get(_binary(kernel), [])
        if not any(covers(other_pack.arch_of(other), arch) for other_pack, other in same):
            lacks = "for these arches" if same else "from the same source and spec"
            yield Finding(kernel.name, f"is in {root} and the full catalog has no kernel {lacks}")


def _twins(catalog: Catalog) -> Iterator[Finding]:
    for members in _members(catalog).values():
        for i, (kdp, kernel) in enumerate(members):
            for other_pack, other in members[:i]:
                if compete(other_pack.arch_of(other), kdp.arch_of(kernel)):
                    yield Finding(kernel.name, f"is the same binary as {other.name} under other metadata")
                    break


GATE = Gate("nesting", (), check, order=100)
