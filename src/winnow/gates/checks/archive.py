"""Gate `archive`: every packed shard is whole, and holds what the catalog beside it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from winnow.archive.verify import Shard
from winnow.descriptors.tree import Catalog
from winnow.errors import InputError
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.packed import Packed
from winnow.gates.verdict import Finding, Verdict, judged
from winnow.identity import record_digest
from winnow.pack.records import authored_record
from winnow.pack.survivors import survivors
from winnow.wording import amount


def check(inspection: Inspection) -> Verdict:
    """Open each shard, which compares every digest, and compare its kernels with the catalog's."""
    beside = dict(zip(inspection.archives, (catalog for _, catalog in inspection.catalogs), strict=False))
    findings = [finding for packed in inspection.packed for finding in _findings(beside, packed)]
    return judged("archive", amount(len(inspection.packed), "shards"), findings)


def _findings(beside: Mapping[Path, Catalog], packed: Packed) -> Iterator[Finding]:
    if packed.archive not in beside:
        yield Finding(packed.arch, f"the archive {packed.archive} has no catalog beside it: run `winnow reduce`")
        return
    try:
        shard = packed.shard
    except InputError as error:
        yield Finding(packed.arch, error.message, error.place)
        return
    yield from _differences(beside[packed.archive], shard, packed.catalog)


def _differences(catalog: Catalog, shard: Shard, shipped: Catalog) -> Iterator[Finding]:
    authored = {survivor.kernel.name: survivor.kernel for survivor in survivors(catalog, shard.arch)[0]}
    packed = {kernel.name: kernel for _, kernel in shipped.kernels()}
    where = f"the {shard.arch} shard ({shard.root})"
    ours_shared = _shared(catalog)
    for identity, (name, document) in _shared(shipped).items():
        if ours_shared.get(identity, ("", None))[1] != document:
            yield Finding(name, f"is another one in {where} than in the catalog: run `winnow pack`")
    for name, kernel in authored.items():
        if name not in packed:
            yield Finding(name, f"is in the catalog and not in {where}: run `winnow pack`")
            continue
        theirs = shard.provenance[packed[name].id]
        source = kernel.kernel_source
        ours = authored_record(source["source"], source["builder"], source["spec"])
        same = (
            packed[name].id == kernel.id
            and packed[name].priority == kernel.priority
            and catalog.completed_metadata(kernel) == shipped.completed_metadata(packed[name])
            and theirs["effective_spec"]["authored_digest"] == record_digest(ours)
        )
        if not same:
            yield Finding(name, f"was packed from another descriptor into {where}: run `winnow pack`")
    for name in packed:
        if name not in authored:
            yield Finding(name, f"is in {where} and not in the catalog: run `winnow pack`")


def _shared(catalog: Catalog) -> dict[str, tuple[str, Any]]:
    """Every descriptor that packing copies as it is, by id: matcher, engine, metadata, dispatch and heuristic."""
    documents = (catalog.kmd, catalog.ued, *catalog.umds, *catalog.udds, *catalog.uhds)
    return {document.id: (name, document) for name, document in documents}


GATE = Gate("archive", ("archive",), check, order=140)
