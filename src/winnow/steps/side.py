"""The kernels of a selection, a catalog or a packed tree, in the one form in which any two can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from winnow.archive.verify import open_shard, shards_of
from winnow.descriptors.diff import Item
from winnow.descriptors.documents import Kdp
from winnow.descriptors.tree import Catalog, read_catalog
from winnow.errors import InputError, Place
from winnow.pack.hydrate import Authored, hydrate
from winnow.selection.document import load_selection
from winnow.selection.expand import expand
from winnow.settings.fields import KmdField
from winnow.strict.json_reader import load_json
from winnow.strict.schema import validate


def read_side(path: Path) -> tuple[Item, ...]:
    """The kernels of a selection file, a directory of descriptors, one `.kdp.json` file, or a packed tree.

    Raises:
        InputError: nothing is there, it is none of these, or it is malformed.
    """
    name = path.name.removesuffix(".gz")
    if path.is_dir():
        arches = shards_of(path)
        return _packed(path, arches) if arches else _catalog(read_catalog(path))
    if not path.exists():
        raise InputError("no such file or directory", place=Place(str(path)))
    if name.endswith((".yaml", ".yml")):
        return _selection(path)
    if name.endswith(".kdp.json"):
        kdp = validate(Kdp, load_json(path))
        return tuple(_descriptor(kdp, kernel, kernel.metadata) for kernel in kdp.kernels)
    raise InputError(
        "is not a selection (.yaml), a pack (.kdp.json), a catalog directory or a packed tree", place=Place(str(path))
    )


def fill_defaults(items: tuple[Item, ...], allowed: frozenset[str], file: str) -> tuple[Item, ...]:
    """The items with every spec as its builder would see it, with the defaults of its class.

    Raises:
        InputError: a builder outside the `allowed` modules, or a spec that does not fit its class.
    """

    def filled(item: Item) -> Item:
        authored = Authored(item.name, Place(file), item.source, item.builder, item.spec)
        return replace(item, spec=asdict(hydrate(authored, allowed=allowed).spec))

    return tuple(filled(item) for item in items)


def _selection(path: Path) -> tuple[Item, ...]:
    loaded = load_selection(path)
    fields = loaded.selection.kmd_fields
    return tuple(
        Item(
            name=kernel.name,
            kind=str(kernel.source["kind"]),
            source=str(kernel.source.get("source", "")),
            builder=str(kernel.source.get("builder", "")),
            spec=kernel.spec,
            metadata=_completed(fields, kernel.metadata),
            priority=kernel.priority,
            arch=kernel.arch,
        )
        for kernel in expand(loaded)
    )


def _completed(fields: list[KmdField], metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: metadata.get(field.name, field.default_value) for field in fields}


def _catalog(catalog: Catalog) -> tuple[Item, ...]:
    return tuple(_descriptor(kdp, kernel, catalog.completed_metadata(kernel)) for kdp, kernel in catalog.kernels())


def _descriptor(kdp: Kdp, kernel: Any, metadata: Mapping[str, Any]) -> Item:
    source = kernel.kernel_source
    return Item(
        name=kernel.name,
        kind=str(source.get("kind", "")),
        source=str(source.get("source", "")),
        builder=str(source.get("builder", "")),
        spec=source.get("spec", {}),
        metadata=metadata,
        priority=kernel.priority,
        arch=tuple(kdp.arch_of(kernel)),
    )


def _packed(root: Path, arches: tuple[str, ...]) -> tuple[Item, ...]:
    """What was authored, from the provenance; a kernel that several shards hold is one."""
    found: dict[str, Item] = {}
    for arch in arches:
        shard = open_shard(root, arch)
        for kernel in shard.kernels:
            authored = shard.provenance[kernel.id]
            item = Item(
                name=kernel.name,
                kind=str(authored["origin_kind"]),
                source=str(authored["source"]),
                builder=str(authored["builder"]),
                spec=authored["spec"],
                metadata=kernel.completed,
                priority=kernel.priority,
                arch=None,
            )
            first = found.setdefault(kernel.name, item)
            if first != item:
                raise InputError(
                    f"{kernel.name} is another kernel here than in the {arches[0]} shard",
                    place=Place(str(shard.root)),
                    cure="pack all shards from one catalog",
                )
    return tuple(found.values())
