"""Gate `launch-surface`: grid, block and arguments that descriptors give are those of the kernel's own candidate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from winnow.compilers.triton_types import NULL_POINTERS
from winnow.descriptors.documents import Kdp, Ukd
from winnow.descriptors.tree import Catalog
from winnow.dtypes import OF_ARGUMENTS
from winnow.errors import InputError, Place
from winnow.families.adapter import Problem
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.packed import Packed
from winnow.gates.samples import sampled_problems
from winnow.gates.verdict import Finding, Verdict, incomplete, judged
from winnow.pack.hydrate import Authored, Hydrated, build_source, hydrate
from winnow.runtime.behaviour import Behaviour, behaviour

_NUMBERS = {name: (int, bool) if row.integer else (float, int) for name, row in OF_ARGUMENTS.items()}
_ASKED = ("grid", "block", "signature")


def check(inspection: Inspection) -> Verdict:
    """Ask the candidate of every kernel, on sampled requests, and compare with what the descriptors compute."""
    engine, catalog = inspection.engine, inspection.committed
    behaves = behaviour(catalog.ued[1].x_winnow, str(engine.catalog / catalog.ued[0]))
    if not inspection.problems:
        return incomplete("launch-surface", f"no graph in {engine.corpus} is one of this family")
    surface = _Surface(inspection, catalog, behaves, inspection.problems)
    findings = list(surface.undeclared())
    kernels = list(catalog.kernels())
    for kdp, kernel in () if findings else kernels:
        findings += (Finding(kernel.name, problem) for problem in surface.kernel(kdp, kernel))
    for packed in inspection.packed:
        if packed.archive == engine.archive:
            findings += surface.shipped(packed)
    return judged("launch-surface", f"{len(kernels)} kernels, {surface.compared} requests", findings)


class _Surface:
    """What an engine's descriptors say of launches, and the registry that knows."""

    def __init__(
        self, inspection: Inspection, catalog: Catalog, behaves: Behaviour, problems: Sequence[Problem]
    ) -> None:
        self.inspection, self.engine = inspection, inspection.engine
        self.catalog, self.behaves, self.problems = catalog, behaves, problems
        self.compared = 0

    @cached_property
    def candidates(self) -> Mapping[tuple[str, str], Any]:
        """Candidates by (source, builder)."""
        by_name = {candidate.name: candidate for candidate in self.inspection.walk.registry.candidates()}
        builders = self.inspection.manifest.enumerate.builders
        return {(ref.source, ref.builder): by_name[name] for name, ref in builders.items() if name in by_name}

    @cached_property
    def fields(self) -> set[str]:
        """Every field that some problem of the corpus has."""
        return {name for problem in self.problems for name in problem.fields}

    def undeclared(self) -> Iterator[Finding]:
        """Names that are read and that neither the problems nor the declared metadata have."""
        first = next(kernel.name for _, kernel in self.catalog.kernels())
        place = Place(str(self.engine.catalog / self.catalog.ued[0]), key="x-winnow")
        declared = {field.name for field in self.catalog.kmd[1].fields}
        for name in self.behaves.launcher.reads:
            if name not in declared | self.fields:
                message = (
                    f'the launch surface reads "{name}", which is neither declared metadata nor a problem\'s field'
                )
                yield Finding(first, message, place)
        for name, operator, other in self.behaves.matcher.rules:
            if operator == "any":
                continue
            if name not in self.fields:
                yield Finding(first, f'matching reads the field "{name}", which no problem of the corpus has', place)
            if other not in declared:
                yield Finding(first, f'matching reads "{other}", which is not declared metadata', place)

    def kernel(self, kdp: Kdp, kernel: Ukd) -> Iterator[str]:
        """All that differs for one kernel, one sentence for each part of its launch."""
        try:
            hydrated = self.hydrated(kernel)
        except InputError as error:
            yield error.message.removeprefix(f"{kernel.name}: ")
            return
        source = kernel.kernel_source
        candidate = self.candidates.get((source["source"], source["builder"]))
        if candidate is None:
            yield f"no candidate of the manifest is built by {source['source']}:{source['builder']}"
            return
        silent = [name for name in _ASKED if not callable(getattr(candidate, name, None))]
        if silent:
            yield f"its candidate {candidate.name} says nothing of its {', '.join(silent)}"
            return
        metadata = self.catalog.completed_metadata(kernel)
        yield from self.arguments(candidate, hydrated, kdp.arch_of(kernel), metadata)
        yield from self.extents(candidate, hydrated, kdp.arch_of(kernel), metadata)

    def hydrated(self, kernel: Ukd) -> Hydrated:
        source = kernel.kernel_source
        place = Place(str(self.engine.catalog))
        own = Authored(
            kernel.name, place, str(source.get("source")), str(source.get("builder")), source.get("spec", {})
        )
        return hydrate(own, allowed=self.inspection.manifest.allowed_modules)

    def arguments(
        self, candidate: Any, hydrated: Hydrated, arches: Sequence[str], metadata: Mapping[str, Any]
    ) -> Iterator[str]:
        """The built source's arguments are the candidate's, and each can be found in a problem by its name."""
        expected = [(parameter.name, parameter.type) for parameter in candidate.signature(hydrated.spec)]
        for arch in arches:
            parameters = getattr(build_source(hydrated, arch), "parameters", None)
            if parameters is None:  # then only the object says what it takes
                break
            built = [(parameter.name, parameter.type) for parameter in parameters]
            if built != expected:
                yield f"its source takes {_shown(built)}, its candidate's signature is {_shown(expected)}"
                return
        # Another problem may lack what this kernel takes: a bias, or the bounds of a mask.
        served = (p for p in self.problems if self.behaves.matcher.refusal(metadata, p.fields) is None)
        problem = next(served, self.problems[0])
        roles = {operand.role for operand in problem.operands}
        for name, kind in expected:
            if kind == "ptr" and name not in roles:
                yield f'its argument "{name}" is a pointer, and no tensor of a problem has that role'
            elif kind != "ptr" and not isinstance(problem.fields.get(name), _NUMBERS[kind]):
                yield f'its argument "{name}" is of type {kind}, and no problem has such a field'

    def extents(
        self, candidate: Any, hydrated: Hydrated, arches: Sequence[str], metadata: Mapping[str, Any]
    ) -> Iterator[str]:
        name, before = hydrated.authored.kernel, self.compared
        for problem in sampled_problems(self.problems, self.behaves.matcher, metadata, name):
            for arch in arches:
                request = self.behaves.adapter.request(problem, arch)
                if not candidate.admits(request)[0]:
                    continue
                self.compared += 1
                asked = {"grid": candidate.grid(hydrated.spec, request), "block": candidate.block(hydrated.spec)}
                for part, expected in asked.items():
                    found = self.computed(part, metadata, problem)
                    if found != tuple(expected):
                        said = f"{part} is {found} by its descriptor, {tuple(expected)} by its candidate"
                        yield f"{said}, for {_asked(problem)}"
                        return
        if self.compared == before:
            yield "no request could be made that its descriptor matches and its candidate admits"

    def computed(self, part: str, metadata: Mapping[str, Any], problem: Problem) -> Any:
        """The extents that the descriptors give, or why they give none."""
        try:
            return getattr(self.behaves.launcher, part)(metadata, problem.fields)
        except (ArithmeticError, TypeError, ValueError) as error:
            return f"{type(error).__name__}: {error}"

    def shipped(self, packed: Packed) -> Iterator[Finding]:
        """Packed objects take the arguments of the candidate that their authored kernel is of, in its order.

        Pointers that a compiler adds, and that a launcher passes as null, belong to no candidate.
        """
        authored = {kernel.name: kernel for _, kernel in self.catalog.kernels()}
        for _, kernel in packed.catalog.kernels():
            own = authored.get(kernel.name)
            candidate = None if own is None else self.candidates.get(_builder(own))
            if own is None or candidate is None:
                continue
            try:
                expected = [parameter.name for parameter in candidate.signature(self.hydrated(own).spec)]
            except InputError:
                continue
            names = [argument.get("name", "") for argument in kernel.kernel_source.get("signature", ())]
            found = [name for name in names if name not in NULL_POINTERS]
            if found != expected:
                message = f"its object takes {', '.join(found)}; its candidate's signature is {', '.join(expected)}"
                yield Finding(kernel.name, message, Place(str(packed.root)))


def _builder(kernel: Ukd) -> tuple[str, str]:
    return str(kernel.kernel_source.get("source")), str(kernel.kernel_source.get("builder"))


def _shown(arguments: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name}: {kind}" for name, kind in arguments) or "nothing"


def _asked(problem: Problem) -> str:
    return ", ".join(f"{name}={value}" for name, value in problem.fields.items() if not name.startswith("stride_"))


GATE = Gate("launch-surface", ("corpus",), check, order=120)
