"""What packing costs: `attention_gfx950` cold and again, how busy workers are, and how well registers are estimated.

    python benchmarks/pack.py [DIR] [--jobs N] [--kernels N] [--estimates N]

`--kernels` packs the first N kernels instead of all 840. `--estimates` compiles N tiles a target, drawn from the spaces
of two families without their rules on registers, and compares the rules with the spills that the compiler reports. A
compilation that takes more than a minute counts as one that spills.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import math
import multiprocessing
import multiprocessing.queues
import queue
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from winnow.compilers.source import TritonSource
from winnow.compilers.triton import COMPILER, find_triton
from winnow.descriptors.generate import generate
from winnow.engine_dir import EngineDir
from winnow.engines import copy_engine
from winnow.families.algorithm import Algorithm, TunedSpec
from winnow.families.attention_dense import DenseAttentionRequest
from winnow.families.attention_dense import forward as dense
from winnow.families.attention_dense import space as dense_space
from winnow.families.attention_rdna import RdnaAttentionRequest
from winnow.families.attention_rdna import forward as rdna
from winnow.families.attention_rdna import space as rdna_space
from winnow.families.attention_rdna.cells import Cell
from winnow.families.attention_rdna.estimates import registers_to_spill
from winnow.identity import sha256_hex
from winnow.pack.cache import ObjectCache
from winnow.pack.shard import ShardReport, pack_arch
from winnow.selection.expand import expand
from winnow.spaces import Rule
from winnow.workers.pool import default_jobs

ARCH = "gfx950"
SECONDS = 60.0


@dataclass(frozen=True)
class Estimated:
    """A family whose rule on registers is compared with what the compiler reports."""

    name: str
    arches: tuple[str, ...]
    algorithm: Algorithm[Any]
    rule: Rule
    requests: Callable[[str], tuple[Any, ...]]
    """Target → requests whose spaces tiles are drawn from, about as many from each."""
    source: Callable[[Any, str], TritonSource]
    bearable: Callable[[Any, str], int]
    """Spilled registers (of a spec, for a target) above which a tile counts as one that should not be compiled."""


def _dense_requests(arch: str) -> tuple[DenseAttentionRequest, ...]:
    request = DenseAttentionRequest(
        arch=arch, dtype="fp16", num_query_heads=32, num_kv_heads=8, seqlen_q=512, seqlen_kv=512, head_size=128
    )
    return (request,)


_CELLS = (
    Cell(64, 16, "band", "none"),
    Cell(96, 16, "band", "fp32"),
    Cell(128, 16, "none", "none"),
    Cell(160, 16, "causal", "none"),
    Cell(192, 192, "band", "none"),
    Cell(256, 16, "band", "same"),
)


def _rdna_requests(arch: str) -> tuple[RdnaAttentionRequest, ...]:
    return tuple(
        RdnaAttentionRequest(
            arch=arch,
            dtype="fp16",
            num_query_heads=8,
            num_k_heads=2,
            num_v_heads=2,
            seqlen_q=512,
            seqlen_kv=512,
            head_size_qk=cell.width,
            head_size_v=cell.width,
            **dataclasses.asdict(cell),
        )
        for cell in _CELLS
    )


ESTIMATED = (
    Estimated(
        name="attention_dense",
        arches=("gfx950", "gfx942", "gfx1201", "gfx11-generic"),
        algorithm=dense_space.ALGORITHM,
        rule=dense_space.registers_fit,
        requests=_dense_requests,
        source=dense.source_of,
        bearable=lambda spec, arch: 63,
    ),
    Estimated(
        name="attention_rdna",
        arches=("gfx11-generic", "gfx12-generic"),
        algorithm=rdna_space.ALGORITHM,
        rule=rdna_space.registers_fit,
        requests=_rdna_requests,
        source=lambda spec, arch: rdna.source_of(spec),
        bearable=lambda spec, arch: registers_to_spill(spec.width, rdna_space.target_facts(arch)["operand_copies"]),
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="?", help="where to work [default: a new temporary directory]")
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--kernels", type=int, default=840)
    parser.add_argument("--estimates", type=int, default=0)
    options = parser.parse_args()
    directory = options.directory or Path(tempfile.mkdtemp(prefix="winnow-pack-"))
    if options.kernels:
        measure_pack(directory, options.jobs, options.kernels)
    for family in ESTIMATED if options.estimates else ():
        for arch in family.arches:
            print_estimates(family, arch, options.estimates)


def measure_pack(directory: Path, jobs: int, kernels: int) -> None:
    """Pack cold, pack again from the cache, and compare the bytes."""
    copy_engine("attention_gfx950", directory / "engine")
    engine = EngineDir(directory / "engine" / "engine.yaml")
    catalog = generate(engine.manifest.manifest, expand(engine.selection)[:kernels])
    for name in ("cold", "again"):
        before, began = _children_cpu(), time.perf_counter()
        report = pack_arch(
            catalog,
            ARCH,
            directory / name,
            allowed=engine.manifest.manifest.allowed_modules,
            jobs=jobs,
            cache=ObjectCache(directory / "cache"),
            limits=engine.manifest.manifest.pack.stated,
        )
        _print_report(name, report, time.perf_counter() - began, _children_cpu() - before, jobs)
    same = _digest(directory / "cold" / ARCH) == _digest(directory / "again" / ARCH)
    print(f"the two shards are {'byte-identical' if same else 'DIFFERENT'}: {_digest(directory / 'cold' / ARCH)[:16]}")


def _print_report(name: str, report: ShardReport, wall: float, cpu: float, jobs: int) -> None:
    busy = report.compile_s / wall
    print(
        f"{name}: {report.kernels} kernels, {report.objects} objects, {report.built} compiled, {report.alike} alike, "
        f"{report.cached} cached; {wall:.1f} s, {cpu:.1f} s of processor time in workers ({cpu / wall:.2f} of {jobs}), "
        f"workers busy {busy:.2f} of {jobs}, slowest {report.slowest_s:.1f} s, {report.archive_bytes:,} bytes",
        flush=True,
    )


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _digest(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return sha256_hex(repr([(str(p.relative_to(folder)), hashlib.sha256(p.read_bytes()).hexdigest()) for p in files]))


def print_estimates(family: Estimated, arch: str, count: int) -> None:
    """Compile tiles that the other rules allow, and count where the rule on registers was right."""
    table: Counter[tuple[bool, bool]] = Counter()
    seconds: Counter[bool] = Counter()
    spilled: dict[bool, list[float]] = {True: [], False: []}
    for spec in _drawn(family, arch, count):
        allowed = bool(family.rule(**_read(family, spec, arch)))
        began = time.perf_counter()
        spills = _spills(family.source(spec, arch), arch)
        seconds[allowed] += time.perf_counter() - began
        spilled[allowed].append(spills)
        table[allowed, spills > family.bearable(spec, arch)] += 1
    right = table[True, False] + table[False, True]
    print(
        f"{family.name} for {arch}: the rule is right for {right} of {count}: {table[True, False]} kept without many "
        f"spills, {table[False, True]} pruned with many, {table[True, True]} kept with many, {table[False, False]} "
        f"pruned without; the kept spill up to {max(spilled[True], default=0)}, the pruned "
        f"{min(spilled[False], default=0)} and more; {seconds[True]:.0f} s for the kept, {seconds[False]:.0f} s saved",
        flush=True,
    )


def _drawn(family: Estimated, arch: str, count: int) -> Iterator[TunedSpec]:
    """Tiles of the spaces without the rule, the same for the same count."""
    rules = tuple(rule for rule in family.algorithm.kernel_rules if rule is not family.rule)
    open_ended = dataclasses.replace(family.algorithm, kernel_rules=rules)
    requests = family.requests(arch)
    for seed, request in enumerate(requests):
        share = (count + len(requests) - 1 - seed) // len(requests)
        for point in open_ended.space(request).sample(share, seed):
            yield open_ended.canonical(request, point)


def _read(family: Estimated, spec: TunedSpec, arch: str) -> dict[str, Any]:
    values = {**dict(spec.items()), **family.algorithm.facts(arch)}
    return {name: values[name] for name in family.rule.reads}


def _spills(source: TritonSource, arch: str) -> float:
    """Registers that the kernel spills; without end where compiling it takes longer than a minute."""
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    process = context.Process(target=_compile, args=(source, arch, answers), daemon=True)
    process.start()
    try:
        spills: float = answers.get(timeout=SECONDS)
    except queue.Empty:
        process.kill()
        return math.inf
    process.join()
    return spills


def _compile(source: TritonSource, arch: str, answers: multiprocessing.queues.Queue[int]) -> None:
    answers.put(COMPILER.compile(source, arch, find_triton()).resources["vgpr_spills"])


if __name__ == "__main__":
    main()
