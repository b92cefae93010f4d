"""One architecture's shard: what the catalog says for it, compiled, with digests over every byte."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from winnow.archive.marker import MARKER, marker_text
from winnow.compilers.checked import language_of
from winnow.compilers.code_object import CodeObject
from winnow.compilers.compiler import Compiler, Recipe
from winnow.compilers.find import Compilers, Language, find_compiler
from winnow.descriptors.tree import CATALOG, Catalog
from winnow.errors import InputError, Place, Refused, WinnowError
from winnow.files import Kind, Lock, locked, staged_tree, write_atomic
from winnow.pack.agreement import Claim, Observed, check_agreement, claim_of, observe, producer_identity
from winnow.pack.assemble import KPACK_FOLDER, Prepared, assemble
from winnow.pack.cache import ObjectCache
from winnow.pack.compile import Progress, compile_all
from winnow.pack.executor import LOCAL, Executor
from winnow.pack.hydrate import Authored, Hydrated, build_source, check_support, hydrate, module_name
from winnow.pack.resources import NO_LIMITS, resource_problem
from winnow.pack.survivors import Shadowed, Survivor, survivors
from winnow.workers.pool import TIMEOUT_SECONDS

_SHARD = Kind("a shard", (MARKER, *CATALOG.marks))
_SOURCE_KEYS = ("kind", "source", "builder", "spec")


@dataclass(frozen=True)
class ShardReport:
    """What packing one architecture did. `objects` counts distinct ones; sizes in bytes, times in seconds.

    `compile_s` is the time of all compilations together, `slowest_s` of the slowest, `limit_s` what one may take.
    """

    arch: str
    path: Path
    kernels: int
    objects: int
    built: int
    cached: int
    alike: int
    shadowed: tuple[Shadowed, ...]
    targets: Mapping[str, int]
    object_bytes: int
    archive_bytes: int
    seconds: float
    compile_s: float
    slowest_s: float
    limit_s: float

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**dataclasses.asdict(self), "path": str(self.path), "targets": dict(self.targets)}


def silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def pack_locked(
    catalog: Catalog,
    arch: str,
    out: Path,
    lock: Lock,
    *,
    allowed: frozenset[str],
    jobs: int,
    cache: ObjectCache | None = None,
    progress: Progress = silent,
    compilers: Compilers | None = None,
    limits: Mapping[str, int] = NO_LIMITS,
    executor: Executor = LOCAL,
    timeout_s: float = TIMEOUT_SECONDS,
) -> ShardReport:
    """Write the shard `out`/`arch`, whole or not at all; the one that is there stays until the new one is finished.

    `lock` is the shard's, held by this process since before it compiles: another pack learns at once that it is late.
    `allowed` are the modules (and what is below them) that may be imported; `compilers` replaces those installed;
    `limits` says what an object may need at most (`spills`, as in the manifest's `pack:`);
    `executor` runs the compilations; `timeout_s` is the longest that one variant may compile.

    Raises:
        InputError: nothing to pack, a kernel that cannot be built, a missing compiler, a compilation that failed.
        Refused: a spec that its builder does not support, metadata that is not what is compiled, an object that
            its target could not run.
    """
    began = time.perf_counter()
    chosen, shadowed = survivors(catalog, arch)
    _check_names(catalog)
    prepared = _prepare(catalog, chosen, allowed, compilers, progress)
    compiled = compile_all(
        [item.request for item in prepared],
        cache=cache,
        jobs=jobs,
        progress=progress,
        executor=executor,
        timeout_s=timeout_s,
    )
    for item, code in zip(prepared, compiled.objects, strict=True):
        _check_object(item, code, limits)
    shard = assemble(catalog, arch, prepared, compiled.objects)
    with staged_tree(lock) as staging:
        for name, data in shard.files.items():
            write_atomic(staging / name, data)
        write_atomic(staging / MARKER, marker_text(arch, shard.files))
    targets = [survivor.target for survivor in chosen]
    return ShardReport(
        arch=arch,
        path=out / arch,
        kernels=len(chosen),
        objects=len(shard.payloads),
        built=compiled.built,
        cached=compiled.cached,
        alike=compiled.alike,
        shadowed=shadowed,
        targets={target: targets.count(target) for target in sorted(set(targets))},
        object_bytes=sum(map(len, shard.payloads)),
        archive_bytes=len(shard.files[shard.archive]),
        seconds=time.perf_counter() - began,
        compile_s=compiled.timing.total_s,
        slowest_s=compiled.timing.slowest_s,
        limit_s=compiled.timing.limit_s,
    )


def pack_arch(catalog: Catalog, arch: str, out: Path, **options: Any) -> ShardReport:
    """`pack_locked` with the shard's lock. Raises what that raises, and InputError where another process packs it."""
    (report,) = pack_arches(catalog, [arch], out, **options)
    return report


def pack_arches(catalog: Catalog, arches: Sequence[str], out: Path, **options: Any) -> tuple[ShardReport, ...]:
    """`pack_locked` for each of `arches`. One that fails leaves its own shard as it was; the others are packed.

    Raises:
        InputError: before anything is compiled, where another process packs any of them.
        WinnowError: at the end, where any failed: how many of how many, and why each.
    """
    reports: list[ShardReport] = []
    failures: dict[str, WinnowError] = {}
    with contextlib.ExitStack() as stack:
        # In one order for everybody: of two packs that share an architecture, one gets all its locks.
        locks = {arch: stack.enter_context(locked(out / arch, _SHARD, wait_s=0)) for arch in sorted(set(arches))}
        for arch in dict.fromkeys(arches):
            try:
                reports.append(pack_locked(catalog, arch, out, locks[arch], **options))
            except WinnowError as error:
                failures[arch] = error
    if len(failures) == 1 and not reports:
        raise next(iter(failures.values()))
    if failures:
        kind = InputError if any(error.exit_code != Refused.exit_code for error in failures.values()) else Refused
        said = "\n".join(f"{arch}: {error}" for arch, error in failures.items())
        raise kind(f"{len(failures)} of {len(failures) + len(reports)} architectures failed\n{said}")
    return tuple(reports)


def _check_names(catalog: Catalog) -> None:
    for name, _ in catalog.documents():
        if name.partition("/")[0].casefold() == KPACK_FOLDER:
            raise InputError(f'the folder "{KPACK_FOLDER}" is reserved for archives', place=Place(name))
    for name, uhd in catalog.uhds:
        for key, file in uhd.artifacts:
            raise InputError(
                f"{uhd.name}: a heuristic with a file ({file}) cannot be packed",
                place=Place(name, key=key),
            )


def _prepare(
    catalog: Catalog,
    chosen: Sequence[Survivor],
    allowed: frozenset[str],
    compilers: Compilers | None,
    progress: Progress,
) -> list[Prepared]:
    """Everything that can be refused before a compiler runs, for every kernel."""
    claims = {kdp.id: claim_of(catalog, file, kdp) for file, kdp in catalog.kdps}
    found: dict[str, Compiler] = {}
    judged: list[_Judged] = []
    for i, survivor in enumerate(chosen):
        authored = _authored(survivor)
        kind = survivor.kernel.kernel_source["kind"]
        if kind not in found:
            found[kind] = find_compiler(kind, compilers, authored.at("kind"))
        if survivor.target not in found[kind].targets:
            raise authored.fail(
                f"the compiler for {kind} has no target {survivor.target}",
                key="kind",
                cure=f"it compiles for {', '.join(found[kind].targets)}",
            )
        hydrated = hydrate(authored, allowed=allowed)
        check_support(hydrated, survivor.target)
        claim = claims[survivor.kdp.id]
        observed = observe(hydrated, claim.consumer)
        check_agreement(catalog, survivor.kernel, claim.consumer, observed, survivor.place)
        judged.append(_Judged(survivor, hydrated, claim, observed))
        progress("check", i + 1, len(chosen))
    # Only now: a kernel that is wrong is named on a machine without its compiler, too.
    languages = {kind: language_of(compiler) for kind, compiler in found.items()}
    return [_built(item, languages[item.survivor.kernel.kernel_source["kind"]]) for item in judged]


@dataclass(frozen=True)
class _Judged:
    """A kernel that passed every check that needs no compiler."""

    survivor: Survivor
    hydrated: Hydrated
    claim: Claim
    observed: Observed


def _built(item: _Judged, language: Language) -> Prepared:
    source = build_source(item.hydrated, item.survivor.target)
    if language.compiler.adopt is not None:
        source = _adopted(item.hydrated, language.compiler.adopt, source)
    if not isinstance(source, language.compiler.source_type):
        raise item.hydrated.authored.fail(
            f"{item.hydrated.builder_name} gave a {type(source).__name__}, but kernel sources of kind "
            f"{language.compiler.language} are {language.compiler.source_type.__name__}",
            key="kind",
        )
    return Prepared(item.survivor, item.hydrated, item.claim, item.observed, language, source)


def _adopted(hydrated: Hydrated, adopt: Callable[[Any, Recipe], Any], built: Any) -> Any:
    authored = hydrated.authored
    try:
        return adopt(built, Recipe(module_name(authored.source) or "", authored.builder, hydrated.spec))
    except InputError as error:
        raise authored.fail(f"{hydrated.builder_name}: {error.message}", key="builder", cure=error.cure) from error


def _authored(survivor: Survivor) -> Authored:
    kernel, source = survivor.kernel, survivor.kernel.kernel_source
    place = dataclasses.replace(survivor.place, key=f"{survivor.place.key}.kernel_source")
    for key in _SOURCE_KEYS:
        if key not in source:
            raise InputError(f'{kernel.name}: its kernel source has no "{key}"', place=place)
    for key in source:
        if key not in _SOURCE_KEYS:
            raise InputError(f'{kernel.name}: unknown key "{key}" in its kernel source', place=place)
    if "effective_spec" in (kernel.provenance or {}):
        raise InputError(f"{kernel.name}: effective_spec is the pack's to write", place=survivor.place)
    return Authored(kernel.name, survivor.place, source["source"], source["builder"], source["spec"])


def _check_object(item: Prepared, code: CodeObject, limits: Mapping[str, int]) -> None:
    """An object must be for its target, hold its symbol and fit its target; its code must still be what it was."""
    kernel, target = item.survivor.kernel.name, item.survivor.target
    if code.target != target or code.symbol.encode() not in code.payload:
        raise InputError(
            f"{kernel}: asked for an object for {target}, the compiler gave one for {code.target} "
            f"with the symbol {code.symbol}",
            place=item.survivor.place,
        )
    problem = resource_problem(code.resources, target, limits)
    if problem is not None:
        raise Refused(f"{kernel}: {problem}", place=item.survivor.place, cure="take the variant out of the selection")
    for code_of, then in zip(item.observed.code, item.observed.producers.values(), strict=True):
        if producer_identity(code_of) != then:
            raise InputError(
                f"{kernel}: {then['file']} changed while the kernels built from it were compiled", cure="pack again"
            )
