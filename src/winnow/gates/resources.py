"""Gate `resources`: no packed object needs more than its target has or the manifest allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from winnow.archive.verify import open_shard, shards_of
from winnow.engine_dir import EngineDir
from winnow.errors import InputError
from winnow.gates.verdict import Finding, Verdict, incomplete, judged
from winnow.pack.resources import resource_problem
from winnow.wording import amount


def check(engine: EngineDir, device: str | None) -> Verdict:
    """Read what every packed object says of itself, and compare."""
    limits = engine.manifest.manifest.pack.stated
    shards = [
        (archive, arch) for archive in (engine.archive, engine.reduced / "archive") for arch in shards_of(archive)
    ]
    if not shards:
        return incomplete("resources", f"no archive at {engine.archive}: run `winnow pack` first")
    findings = [finding for archive, arch in shards for finding in _excesses(archive, arch, limits)]
    stated = ", ".join(f"{name} up to {limit}" for name, limit in limits.items()) or "no limits of the manifest's own"
    return judged("resources", f"{amount(len(shards), 'packed shards')} ({stated})", findings)


def _excesses(archive: Path, arch: str, limits: Mapping[str, int]) -> Iterator[Finding]:
    try:
        shard = open_shard(archive, arch)
    except InputError as error:
        yield Finding(arch, error.message, error.place)
        return
    for kernel in shard.kernels:
        packed = shard.objects[kernel.id]
        problem = resource_problem(packed.resources, packed.target, limits)
        if problem is not None:
            yield Finding(kernel.name, f"{problem} (archive {archive})")
