"""Gate `archive`: every packed shard is whole, and holds what the catalog beside it says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from winnow.archive.verify import Shard, open_shard, shards_of
from winnow.descriptors.tree import Catalog, read_catalog
from winnow.engine_dir import EngineDir
from winnow.errors import InputError
from winnow.gates.verdict import Finding, Verdict, incomplete, judged
from winnow.identity import record_digest
from winnow.pack.records import authored_record
from winnow.pack.survivors import survivors
from winnow.wording import amount


def check(engine: EngineDir, device: str | None) -> Verdict:
    """Open each shard, which compares every digest, and compare its kernels with the catalog's."""
    if not shards_of(engine.archive):
        return incomplete("archive", f"no archive at {engine.archive}: run `winnow pack` first")
    trees = [(engine.catalog, engine.archive), (engine.reduced / "catalog", engine.reduced / "archive")]
    packed = [(read_catalog(catalog), archive, arch) for catalog, archive in trees for arch in shards_of(archive)]
    findings = [finding for catalog, archive, arch in packed for finding in _findings(catalog, archive, arch)]
    return judged("archive", amount(len(packed), "shards"), findings)


def _findings(catalog: Catalog, archive: Path, arch: str) -> Iterator[Finding]:
    try:
        shard = open_shard(archive, arch)
    except InputError as error:
        yield Finding(arch, error.message, error.place)
        return
    yield from _differences(catalog, shard)


def _differences(catalog: Catalog, shard: Shard) -> Iterator[Finding]:
    authored = {survivor.kernel.name: survivor.kernel for survivor in survivors(catalog, shard.arch)[0]}
    shipped = read_catalog(shard.root)
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
