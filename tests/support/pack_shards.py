"""Shards packed from samples, and the digests of what they hold."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pack_samples as samples
from pack_samples import ALLOWED, COMPILERS, kernel

from winnow.descriptors.tree import Catalog
from winnow.pack.shard import ShardReport, pack_arch

V3, V4, GENERIC = "x86-64-v3", "x86-64-v4", "x86-64-generic"


def pack(catalog: Catalog, out: Path, arch: str = V3, **changed: Any) -> ShardReport:
    return pack_arch(catalog, arch, out, **{"allowed": ALLOWED, "jobs": 1, "compilers": COMPILERS, **changed})


def digest(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def mixed() -> Catalog:
    return samples.catalog(
        kernel("native", tile=4, arch=[V3]),
        kernel("generic", tile=8, fast=True, arch=[GENERIC]),
        kernel("shadowed", tile=4, arch=[GENERIC]),
        kernel("v3", tile=16, arch=[V3]),
    )
