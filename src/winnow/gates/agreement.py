"""Gate `agreement`: what packed metadata advertises is what was compiled, by the records of the packed tree alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from winnow.archive.sidecar import find_sidecar, read_sidecar
from winnow.archive.verify import open_shard, shards_of
from winnow.descriptors.reading import descriptor_record
from winnow.descriptors.tree import read_catalog
from winnow.engine_dir import EngineDir
from winnow.errors import InputError, Place
from winnow.gates.verdict import Finding, Verdict, incomplete, judged
from winnow.pack.records import record_problem
from winnow.wording import amount

Mode = Literal["full", "structural"]


def check(engine: EngineDir, device: str | None, *, mode: Mode = "full") -> Verdict:
    """Rebuild every record of what was compiled, for which neither builder nor compiler is needed.

    `structural` only looks whether each kernel has a record that belongs to it, and says that nothing was compared.
    """
    shards = [
        (archive, arch) for archive in (engine.archive, engine.reduced / "archive") for arch in shards_of(archive)
    ]
    if not shards:
        return incomplete("agreement", f"no archive at {engine.archive}: run `winnow pack` first")
    judge = disagreements if mode == "full" else _unrecorded
    findings = [finding for archive, arch in shards for finding in judge(archive, arch)]
    kernels = sum(len(list(read_catalog(archive / arch).kernels())) for archive, arch in shards)
    if mode == "structural" and not findings:
        return incomplete(
            "agreement",
            f"compiled specialization agreement: NOT CHECKED for {amount(kernels, 'kernels')} (--mode full checks it)",
        )
    return judged("agreement", f"{amount(kernels, 'kernels')} in {amount(len(shards), 'packed shards')}", findings)


def disagreements(archive: Path, arch: str) -> Iterator[Finding]:
    """Every kernel of a shard whose descriptor, object and record do not agree, or why the shard cannot be opened."""
    try:
        shard = open_shard(archive, arch)
    except InputError as error:
        yield Finding(arch, error.message, error.place)
        return
    catalog = read_catalog(shard.root)
    for file, kdp in catalog.kdps:
        for kernel in kdp.kernels:
            problem = record_problem(catalog, kdp, kernel, shard.provenance[kernel.id], str(shard.root / file))
            if problem is not None:
                yield Finding(kernel.name, problem, Place(str(shard.root / file)))


def _unrecorded(archive: Path, arch: str) -> Iterator[Finding]:
    for file, kdp in read_catalog(archive / arch).kdps:
        place = Place(str(archive / arch / file))
        try:
            entries = read_sidecar(find_sidecar(archive / arch / file))
        except InputError as error:
            yield Finding(kdp.name, error.message, error.place)
            continue
        for kernel in kdp.kernels:
            entry = entries.get(kernel.id)
            if entry is None or not entry.belongs_to(descriptor_record(kernel)):
                yield Finding(kernel.name, "has no record that belongs to it: NOT CHECKED", place)
