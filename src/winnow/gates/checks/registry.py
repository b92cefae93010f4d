"""Gate `registry`: every selected kernel is one that the registry offers, with the same spec."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.verdict import Finding, Verdict, judged
from winnow.selection.cells import CellWalk
from winnow.selection.kernel import Kernel
from winnow.selection.project import observed_metadata, plain_spec
from winnow.wording import amount


def check(inspection: Inspection) -> Verdict:
    """Ask the registry for each kernel's exact spec on each of its arches, and compare what it answers."""
    kernels, walk = inspection.kernels, inspection.walk
    findings = []
    for kernel in kernels:
        for arch in kernel.arch or walk.plan.candidates.arch:
            reason = _refusal(walk, kernel, arch)
            if reason is not None:
                findings.append(Finding(kernel.name, f"{reason} (arch {arch})", kernel.place))
                break
    return judged("registry", amount(len(kernels), "selected kernels"), findings)


def _refusal(walk: CellWalk, kernel: Kernel, arch: str) -> str | None:
    """Why the registry does not offer this kernel, or None when it does."""
    source, builder = kernel.source.get("source"), kernel.source.get("builder")
    built_by = [(candidate, walk.builder(candidate)) for candidate in walk.candidates(arch)]
    candidates = [candidate for candidate, ref in built_by if (ref.source, ref.builder) == (source, builder)]
    if not candidates:
        return f"no candidate of the manifest is built by {source}:{builder}"
    cells = [cell for cell in walk.cells() if all(kernel.spec.get(name, v) == v for name, v in cell.items())]
    reasons = []
    for candidate, cell in itertools.product(candidates, cells):
        answer = walk.offered(candidate, arch, cell, kernel.spec)
        if isinstance(answer, str):
            reasons.append(answer)
            continue
        spec, metadata = plain_spec(answer, walk.plan.accessors), observed_metadata(answer, walk.loaded)
        difference = _difference(kernel, spec, metadata) or _other_id(kernel, answer)
        if difference is None:
            return None
        reasons.append(difference)
    return reasons[-1] if reasons else "its spec belongs to no cell of the manifest"


def _difference(kernel: Kernel, spec: Mapping[str, Any], metadata: Mapping[str, Any]) -> str | None:
    for what, ours, theirs in (("spec", kernel.spec, spec), ("metadata", kernel.metadata, metadata)):
        for name in (*ours, *theirs):
            if name not in theirs:
                return f"{what} field {name} is unknown to the registry"
            if name not in ours:
                return f"{what} field {name} is missing, the registry says {theirs[name]!r}"
            if ours[name] != theirs[name] or type(ours[name]) is not type(theirs[name]):
                return f"{what} field {name} is {ours[name]!r}, the registry says {theirs[name]!r}"
    return None


def _other_id(kernel: Kernel, answer: Any) -> str | None:
    """Whether the spec as it was selected has another tuning id than the registry's own, which says what it pins."""
    own = getattr(answer, "tuning_id", None)
    if own is None:
        return None
    try:
        selected = type(answer)(**kernel.spec).tuning_id
    except (TypeError, ValueError) as error:
        return f"its spec is refused by {type(answer).__name__}: {error}"
    return None if selected == own else f"its tuning id is {selected}, the registry says {own}"


GATE = Gate("registry", (), check, order=20)
