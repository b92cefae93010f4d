"""From compiled kernels to a shard's files: archive, shipped descriptors, provenance."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from winnow.archive.kpack import KpackEntry, write_kpack
from winnow.archive.sidecar import sidecar_name, write_sidecar
from winnow.compilers.code_object import CodeObject
from winnow.compilers.find import Language
from winnow.descriptors.documents import Kdp, Ukd
from winnow.descriptors.reading import descriptor_record
from winnow.descriptors.tree import Catalog
from winnow.identity import record_digest
from winnow.pack.agreement import Claim, Observed
from winnow.pack.compile import Request
from winnow.pack.hydrate import Hydrated
from winnow.pack.records import authored_record, effective_spec
from winnow.pack.survivors import Survivor
from winnow.targets.arches import arch_facts

KPACK_FOLDER = "kpack"
"""The folder of a shard that holds its archive; no catalog may use it."""

_OBJECT_TYPES = {"amdgpu": "hsaco", "nvptx": "cubin", "cpu": "so"}


@dataclass(frozen=True)
class Prepared:
    """A kernel that passed every check before compiling, with the source that it will be compiled from."""

    survivor: Survivor
    hydrated: Hydrated
    claim: Claim
    observed: Observed
    language: Language
    source: Any

    @property
    def request(self) -> Request:
        """What is to be compiled."""
        kernel = self.survivor.kernel.name
        return Request(kernel, self.survivor.place, self.language, self.source, self.survivor.target)


@dataclass(frozen=True)
class ShardFiles:
    """Every file of a shard by its name in it, and the distinct objects that its archive holds."""

    files: Mapping[str, bytes]
    archive: str
    payloads: tuple[bytes, ...]


def assemble(catalog: Catalog, arch: str, prepared: Sequence[Prepared], objects: Sequence[CodeObject]) -> ShardFiles:
    """The shard of `arch`: objects in the order of `prepared`, one for each kernel; equal ones are archived once."""
    group = re.sub(r"[^A-Za-z0-9_.-]+", "_", catalog.ued[1].name)
    archive = f"{KPACK_FOLDER}/{group}_{arch}.kpack"
    entries: dict[str, KpackEntry] = {}
    packed: dict[str, Ukd] = {}
    depth = {kdp.id: name.count("/") for name, kdp in catalog.kdps}
    for item, code in zip(prepared, objects, strict=True):
        key = _variant_key(item, arch)
        entry = KpackEntry(
            key, arch, code.payload, _OBJECT_TYPES.get(arch_facts(arch).runtime, "object"), {"variant_key": key}
        )
        entry = entries.setdefault(code.sha256, entry)
        library = "../" * depth[item.survivor.kdp.id] + archive
        packed[item.survivor.kernel.id] = _shipped(item.survivor.kernel, arch, code, library, entry.path)
    shard = _pruned(catalog, arch, packed)
    provenance = {
        item.survivor.kernel.id: _provenance(shard, item, packed[item.survivor.kernel.id], code)
        for item, code in zip(prepared, objects, strict=True)
    }
    files = {name: text.encode() for name, text in shard.files().items()}
    for name, kdp in shard.kdps:
        files[sidecar_name(name)] = write_sidecar(
            kdp.id, {kernel.id: (descriptor_record(kernel), provenance[kernel.id]) for kernel in kdp.kernels}
        )
    files[archive] = write_kpack(group, arch, [arch], entries.values())
    return ShardFiles(files, archive, tuple(entry.payload for entry in entries.values()))


def _variant_key(item: Prepared, arch: str) -> str:
    authored, target = item.hydrated.authored, item.survivor.target
    record = authored_record(authored.source, authored.builder, authored.spec)
    # One spec may be in a shard both natively and through a generic target: two objects.
    if target != arch:
        record["target"] = target
    stem = re.split(r"[./]", authored.source.removesuffix(".py"))[-1]
    return f"{stem}_{record_digest(record)[:12]}"


def _shipped(kernel: Ukd, arch: str, code: CodeObject, library: str, toc_key: str) -> Ukd:
    signature = [{"kind": a.kind, "size": a.size, "offset": a.offset, "name": a.name} for a in code.signature]
    source = {
        "kind": "kpack",
        "library": library,
        "toc_key": toc_key,
        "symbol": code.symbol,
        "sha256": code.sha256,
        "signature": signature,
    }
    return kernel.model_copy(update={"kernel_source": source, "arch": [arch], "provenance": None})


def _pruned(catalog: Catalog, arch: str, packed: Mapping[str, Ukd]) -> Catalog:
    """The catalog as it is shipped: the kernels that were packed, and the shared descriptors that these reach."""
    kdps: list[tuple[str, Kdp]] = []
    for name, kdp in catalog.kdps:
        kernels = [packed[kernel.id] for kernel in kdp.kernels if kernel.id in packed]
        if kernels:
            kdps.append((name, kdp.model_copy(update={"kernels": kernels, "arch": [arch], "provenance": None})))
    matchers = {matcher for _, kdp in kdps for matcher in kdp.matchers}
    dispatches = {kdp.dispatch for _, kdp in kdps}
    heuristics = {reference for _, reference in catalog.ued[1].heuristics}
    return dataclasses.replace(
        catalog,
        kdps=tuple(kdps),
        ukds=(),
        umds=tuple((name, umd) for name, umd in catalog.umds if umd.id in matchers),
        udds=tuple((name, udd) for name, udd in catalog.udds if udd.id in dispatches),
        uhds=tuple((name, uhd) for name, uhd in catalog.uhds if uhd.id in heuristics),
    )


def _provenance(shard: Catalog, item: Prepared, packed: Ukd, code: CodeObject) -> dict[str, Any]:
    survivor, authored = item.survivor, item.hydrated.authored
    kdp = next(kdp for _, kdp in shard.kdps if kdp.id == survivor.kdp.id)
    record = authored_record(authored.source, authored.builder, authored.spec)
    return {
        **(survivor.kdp.provenance or {}),
        **(survivor.kernel.provenance or {}),
        "origin_kind": survivor.kernel.kernel_source["kind"],
        **record,
        "arch": survivor.kdp.arch_of(survivor.kernel),
        "target": survivor.target,
        "toolchain": item.language.stated,
        "resources": dict(code.resources),
        "effective_spec": effective_spec(shard, kdp, packed, record, item.claim, item.observed),
    }
