"""Gate `contract`: metadata says what is compiled, in the matcher's words, and what a binary fixes is compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from winnow.descriptors.documents import Kdp, Ukd
from winnow.descriptors.tree import Catalog
from winnow.errors import InputError, Place, Refused
from winnow.gates.checks.agreement import disagreements
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.verdict import Finding, Verdict, judged
from winnow.pack.agreement import Claim, Consumer, check_agreement, claim_of, observe
from winnow.pack.hydrate import Authored, check_support, hydrate
from winnow.selection.cells import crossed
from winnow.settings.manifest import LoadedManifest
from winnow.settings.sources import source_forms, source_problem
from winnow.wording import amount


def check(inspection: Inspection) -> Verdict:
    """Build every spec and read it, without compiling; of packed shards verify the records of what was compiled."""
    findings: list[Finding] = []
    kernels = 0
    for root, catalog in inspection.catalogs:
        judge = _Judge(inspection.loaded, root, catalog)
        for file, kdp in catalog.kdps:
            kernels += len(kdp.kernels)
            findings += judge.pack(file, kdp)
    for packed in inspection.packed:
        findings += disagreements(packed)
    return judged(
        "contract", f"{amount(kernels, 'kernels')}, {amount(len(inspection.packed), 'packed shards')}", findings
    )


@dataclass(frozen=True)
class _Judge:
    """One catalog's kernels against its manifest."""

    loaded: LoadedManifest
    root: Path
    catalog: Catalog

    def pack(self, file: str, kdp: Kdp) -> Iterator[Finding]:
        try:
            claim = claim_of(self.catalog, str(self.root / file), kdp)
        except InputError as error:
            yield Finding(kdp.kernels[0].name if kdp.kernels else kdp.name, error.message, error.place)
            return
        for i, kernel in enumerate(kdp.kernels):
            place = Place(str(self.root / file), key=f"kernelDescriptors[{i}]")
            for problem in self.kernel(kdp, kernel, claim, place):
                yield Finding(kernel.name, problem, place)

    def kernel(self, kdp: Kdp, kernel: Ukd, claim: Claim, place: Place) -> Iterator[str]:
        consumer = claim.consumer
        yield from self.spelling(kernel, consumer)
        kind, forms = str(kernel.kernel_source.get("kind")), source_forms()
        if kind in forms and not forms[kind].from_spec:
            if consumer.metadata_fields:
                yield f"a kernel source of kind {kind} is not compiled from a spec, so metadata_fields must be empty"
            return
        problem = source_problem(kernel.kernel_source)
        if problem is not None:
            yield problem
            return
        yield from _refusals(kernel, lambda: self.agree(kdp, kernel, consumer, place))
        for name in self.unmatched(kernel, consumer):
            yield f'its spec fixes "{name}" = {kernel.kernel_source["spec"][name]!r}, and no matcher compares that'

    def spelling(self, kernel: Ukd, consumer: Consumer) -> Iterator[str]:
        completed = self.catalog.completed_metadata(kernel)
        for name, words in consumer.vocabulary.items():
            said = completed.get(name)
            if said in words.values():
                continue
            cure = f"write {words[str(said)]!r}" if str(said) in words else f"known: {sorted(map(str, words.values()))}"
            yield f"metadata says {name} = {said!r}, which no graph asks for ({cure})"

    def agree(self, kdp: Kdp, kernel: Ukd, consumer: Consumer, place: Place) -> None:
        source = kernel.kernel_source
        authored = Authored(kernel.name, place, source["source"], source["builder"], source["spec"])
        hydrated = hydrate(authored, allowed=self.loaded.manifest.allowed_modules)
        check_agreement(self.catalog, kernel, consumer, observe(hydrated, consumer), place)
        for target in kdp.arch_of(kernel):
            check_support(hydrated, target)

    def unmatched(self, kernel: Ukd, consumer: Consumer) -> Iterator[str]:
        """Spec fields that say what is computed, are not taken at run time, and are compared with nothing."""
        manifest = self.loaded.manifest
        plan = manifest.enumerate
        in_cells = {name for record in plan.cells for point in crossed(record) for name in point}
        asked = {*manifest.match, *in_cells}
        compared = {rule.against(field) for field, rule in manifest.match.items() if rule.operator != "any"}
        for name in kernel.kernel_source["spec"]:
            spoken = {name, *plan.field_map.get(name, ())}
            if name in plan.fixed or not spoken & asked:
                continue
            bound = {field for field, binding in consumer.bindings.items() if binding.field == name} | {name}
            if not bound & compared:
                yield name


def _refusals(kernel: Ukd, question: Any) -> Iterator[str]:
    try:
        question()
    except (InputError, Refused) as error:
        yield error.message.removeprefix(f"{kernel.name}: ")


GATE = Gate("contract", (), check, order=90)
