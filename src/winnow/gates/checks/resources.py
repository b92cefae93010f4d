"""Gate `resources`: no packed object needs more than its target has or the manifest allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from winnow.errors import InputError
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.packed import Packed
from winnow.gates.verdict import Finding, Verdict, judged
from winnow.pack.resources import resource_problem
from winnow.wording import amount


def check(inspection: Inspection) -> Verdict:
    """Read what every packed object says of itself, and compare."""
    limits = inspection.manifest.pack.stated
    findings = [finding for packed in inspection.packed for finding in _excesses(packed, limits)]
    stated = ", ".join(f"{name} up to {limit}" for name, limit in limits.items()) or "no limits of the manifest's own"
    return judged("resources", f"{amount(len(inspection.packed), 'packed shards')} ({stated})", findings)


def _excesses(one: Packed, limits: Mapping[str, int]) -> Iterator[Finding]:
    try:
        shard = one.shard
    except InputError as error:
        yield Finding(one.arch, error.message, error.place)
        return
    for kernel in shard.kernels:
        packed = shard.objects[kernel.id]
        problem = resource_problem(packed.resources, packed.target, limits)
        if problem is not None:
            yield Finding(kernel.name, f"{problem} (archive {one.archive})")


GATE = Gate("resources", ("archive",), check, order=150)
