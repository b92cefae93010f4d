"""What packing costs: `attention_gfx950` cold and again, how busy workers are, and how well registers are estimated.

    python benchmarks/pack.py [DIR] [--jobs N] [--kernels N] [--estimates N]

`--kernels` packs the first N kernels instead of all 840. `--estimates` compiles N tiles a target, drawn from the space
without its rule on registers, and compares the rule with the spills that the compiler reports. A compilation that
takes more than a minute counts as one that spills.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import multiprocessing
import multiprocessing.queues
import queue
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from winnow.catalog.engine_dir import EngineDir
from winnow.catalog.expand import expand
from winnow.catalog.generate import generate
from winnow.compilers.triton import COMPILER, find_triton
from winnow.engines import copy_engine
from winnow.families.attention_dense import DenseAttentionRequest
from winnow.families.attention_dense.forward import source_of
from winnow.families.attention_dense.space import ALGORITHM, KERNEL_RULES, registers_fit
from winnow.families.attention_dense.spec import AttentionDenseSpec
from winnow.identity import sha256_hex
from winnow.pack.cache import ObjectCache
from winnow.pack.pool import default_jobs
from winnow.pack.shard import ShardReport, pack_arch

ARCH = "gfx950"
SECONDS = 60.0
SPILLING = 64
"""Spilled registers from which on a variant counts as one that should not have been compiled."""


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
    for arch in ("gfx950", "gfx942", "gfx1201", "gfx11-generic") if options.estimates else ():
        print_estimates(arch, options.estimates)


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


def print_estimates(arch: str, count: int) -> None:
    """Compile tiles that the other rules allow, and count where the rule on registers was right."""
    table: Counter[tuple[bool, bool]] = Counter()
    seconds: Counter[bool] = Counter()
    for spec in _drawn(arch, count):
        allowed = bool(registers_fit(**_read(spec, arch)))
        began = time.perf_counter()
        spills = _spills(spec, arch)
        seconds[allowed] += time.perf_counter() - began
        table[allowed, spills is None or spills >= SPILLING] += 1
    right = table[True, False] + table[False, True]
    print(
        f"{arch}: the rule is right for {right} of {count}: {table[True, False]} kept without many spills, "
        f"{table[False, True]} pruned that spill {SPILLING} registers and more, {table[True, True]} kept that do, "
        f"{table[False, False]} pruned that do not; {seconds[True]:.0f} s for the kept, {seconds[False]:.0f} s saved",
        flush=True,
    )


def _drawn(arch: str, count: int) -> Iterator[AttentionDenseSpec]:
    """Tiles of the space without the rule, the same for the same count."""
    request = DenseAttentionRequest(
        arch=arch, dtype="fp16", num_query_heads=32, num_kv_heads=8, seqlen_q=512, seqlen_kv=512, head_size=128
    )
    open_ended = dataclasses.replace(ALGORITHM, kernel_rules=_WITHOUT)
    for point in open_ended.space(request).sample(count, 0):
        yield open_ended.canonical(request, point)


_WITHOUT = tuple(rule for rule in KERNEL_RULES if rule is not registers_fit)


def _read(spec: AttentionDenseSpec, arch: str) -> dict[str, int]:
    values = {**dict(spec.items()), **ALGORITHM.facts(arch)}
    return {name: values[name] for name in registers_fit.reads}


def _spills(spec: AttentionDenseSpec, arch: str) -> int | None:
    """Registers that the kernel spills; None where compiling it takes longer than a minute."""
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    process = context.Process(target=_compile, args=(spec, arch, answers), daemon=True)
    process.start()
    try:
        spills: int = answers.get(timeout=SECONDS)
    except queue.Empty:
        process.kill()
        return None
    process.join()
    return spills


def _compile(spec: AttentionDenseSpec, arch: str, answers: multiprocessing.queues.Queue[int]) -> None:
    answers.put(COMPILER.compile(source_of(spec, arch), arch, find_triton()).resources["vgpr_spills"])


if __name__ == "__main__":
    main()
