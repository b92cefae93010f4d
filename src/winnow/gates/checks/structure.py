"""Gate `structure`: every descriptor is one that a loader and a packer take, and every reference leads somewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from winnow.descriptors.documents import Kdp, Ued, Ukd
from winnow.descriptors.tree import Tree, reference_defects
from winnow.errors import Place, nearest
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.verdict import Finding, Verdict, judged
from winnow.metadata import metadata_problems
from winnow.settings.fields import KmdField
from winnow.settings.sources import source_problem
from winnow.targets.names import arch_problem
from winnow.targets.tiers import covers
from winnow.wording import amount


def check(inspection: Inspection) -> Verdict:
    """Read each tree and list all that is wrong in it; a file that holds no descriptor is an error."""
    trees = inspection.trees
    findings = [finding for tree in trees for finding in _findings(tree)]
    files = sum(len(group) for tree in trees for group in tree.found.values())
    kernels = sum(len(kdp.kernels) for tree in trees for _, kdp in tree.found["kdp"])
    return judged("structure", f"{amount(files, 'files')}, {amount(kernels, 'kernels')}", findings)


def _findings(tree: Tree) -> Iterator[Finding]:
    yield from (Finding(defect.subject, defect.message, defect.place) for defect in reference_defects(tree))
    fields = [field for _, kmd in tree.found["kmd"] for field in kmd.fields]
    yield from _fields(tree, fields)
    for name, ued in tree.found["ued"]:
        yield from _engine(tree, name, ued, fields)
    for name, uhd in tree.found["uhd"]:
        for key, file in uhd.artifacts:
            path = (tree.root / name).parent / file
            if not path.resolve().is_relative_to(tree.root.resolve()):
                yield Finding(uhd.name, f"its file {file} lies outside the catalog", tree.place(name, key))
            elif not path.is_file():
                yield Finding(uhd.name, f"its file {file} is missing", tree.place(name, key))
    yield from _names(tree)
    for name, kdp in tree.found["kdp"]:
        if not kdp.kernels:
            yield Finding(kdp.name, "the pack has no kernels", tree.place(name, "kernelDescriptors"))
        for arch in kdp.arch:
            problem = arch_problem(arch)
            if problem is not None:
                yield Finding(_first(kdp), f"its pack {kdp.name}: {problem}", tree.place(name, "arch"))
        for i, kernel in enumerate(kdp.kernels):
            for problem in _kernel(kdp, kernel, fields):
                yield Finding(kernel.name, problem, tree.place(name, f"kernelDescriptors[{i}]"))
    listed = {kernel.id for _, kdp in tree.found["kdp"] for kernel in kdp.kernels}
    for name, kernel in tree.found["ukd"]:
        if kernel.id not in listed:
            yield Finding(kernel.name, "no pack lists this kernel, so nothing ever loads it", tree.place(name))


def _first(kdp: Kdp) -> str:
    return kdp.kernels[0].name if kdp.kernels else kdp.name


def _fields(tree: Tree, fields: Sequence[KmdField]) -> Iterator[Finding]:
    for name, kmd in tree.found["kmd"]:
        names = [field.name for field in kmd.fields]
        for i, field in enumerate(names):
            if field in names[:i]:
                yield Finding(field, "this metadata field is declared twice", tree.place(name, f"fields[{i}]"))
        defaults = {field.name: field.default_value for field in fields if field.default_value is not None}
        for field, problem in metadata_problems(fields, defaults):
            if field in defaults:
                yield Finding(field, f"its default: {problem}", tree.place(name, "fields"))


def _engine(tree: Tree, name: str, ued: Ued, fields: Sequence[KmdField]) -> Iterator[Finding]:
    types = {field.name: field.type for field in fields}
    for i, knob in enumerate(ued.knobs):
        if knob not in types:
            message = f'knob "{knob}" is not a metadata field; {nearest(knob, types)}'
            yield Finding(ued.name, message, tree.place(name, f"knobs[{i}]"))
        elif types[knob] != "int":
            message = f'knob "{knob}" is of type {types[knob]}: only int fields become knobs'
            yield Finding(ued.name, message, tree.place(name, f"knobs[{i}]"))
    if ued.heuristic is not None:
        message = 'has the older key "heuristic", which loaders refuse: say sort_kernel_catalog by arch'
        yield Finding(ued.name, message, tree.place(name, "heuristic"))
    if ued.sdk_version is None:
        yield Finding(ued.name, "has no sdk_version", tree.place(name))


def _names(tree: Tree) -> Iterator[Finding]:
    seen: dict[str, tuple[str, str]] = {}
    for name, kdp in tree.found["kdp"]:
        for i, kernel in enumerate(kdp.kernels):
            if kernel.name in seen and seen[kernel.name][1] != kernel.id:
                place: Place = tree.place(name, f"kernelDescriptors[{i}].name")
                yield Finding(kernel.name, f"another kernel in {seen[kernel.name][0]} has the same name", place)
            seen.setdefault(kernel.name, (name, kernel.id))


def _kernel(kdp: Kdp, kernel: Ukd, fields: Sequence[KmdField]) -> Iterator[str]:
    if "version" not in kernel.model_fields_set:
        yield "has no version: packers refuse that"
    problem = source_problem(kernel.kernel_source)
    if problem is not None:
        yield problem
    if kernel.kernel_source.get("kind") == "hsaco" and not kdp.arch_of(kernel):
        yield "a code object must say for which arch it is"
    for arch in kernel.arch or ():
        unknown = arch_problem(arch)
        if unknown is not None:
            yield unknown
    if not covers(kdp.arch, kdp.arch_of(kernel)):
        yield f"its arch list {kernel.arch} is wider than its pack's {kdp.arch}"
    for _, problem in metadata_problems(fields, kernel.metadata):
        yield problem
    if "effective_spec" in (kernel.provenance or {}):
        yield "effective_spec is the packer's to write"


GATE = Gate("structure", (), check, order=70)
