"""Selection → descriptors: the same files, with the same bytes, every time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from winnow.catalog.descriptors import Kdp, Kmd, NativeSymbol, Udd, Ued, Uhd, UhdNative, Ukd, Umd
from winnow.catalog.expand import Kernel
from winnow.catalog.manifest import Manifest
from winnow.catalog.tree import Catalog
from winnow.errors import InputError, Refused
from winnow.identity import canonical_json, descriptor_id
from winnow.targets.tiers import compete


def generate(manifest: Manifest, kernels: Sequence[Kernel]) -> Catalog:
    """The descriptors of an engine.

    Raises:
        InputError: a `-1` that stands for "not set".
        Refused: two kernels that compete on some device have the same completed metadata (a loader would drop the
            whole engine).
    """
    engine, slug = manifest.engine, manifest.slug
    symbols = f"{engine.native_symbol_namespace or engine.name.partition(':')[0]}.{slug}"

    def ids(kind: str, name: str) -> dict[str, str]:
        return {"id": descriptor_id(engine.name, kind, name), "name": name}

    kmd = Kmd(**ids("kmd", engine.name), fields=manifest.kmd_fields)
    uhd = Uhd(
        **ids("uhd", f"{engine.name} score"),
        adapter="native",
        objective="max",
        native=UhdNative(symbol=f"{symbols}.score"),
    )
    ranked = engine.heuristic == "native"
    ued = Ued(
        **ids("ued", engine.name),
        sdk_version=engine.sdk_version,
        graph_match=NativeSymbol(native=f"{symbols}.graph_match"),
        metadata=kmd.id,
        sort_kernel_catalog={"default": uhd.id} if ranked else None,
        knobs=list(engine.knobs),
        behavior_notes=list(engine.behavior_notes),
        **{"x-winnow": _extension(manifest)},
    )
    umd = Umd(**ids("umd", f"{engine.name} kernel match"), scope="kernel", match_symbol=f"{symbols}.kernel_match")
    udd = Udd(**ids("udd", f"{engine.name} dispatch"), dispatch_symbol=f"{symbols}.dispatch")
    packs = [
        Kdp(
            **ids("kdp", f"{engine.name} {name}"),
            matchers=[umd.id],
            engine=ued.id,
            dispatch=udd.id,
            provenance={"specialization_contract": _contract(manifest, ued.id, kmd.id)},
            kernelDescriptors=[_descriptor(engine.name, kernel) for kernel in members],
            arch=_arches(members),
        )
        for name, members in ((name, list(group)) for name, group in groupby(kernels, key=lambda kernel: kernel.pack))
    ]
    catalog = Catalog(
        kmd=(f"{slug}.kmd.json", kmd),
        ued=(f"{slug}.ued.json", ued),
        umds=(("kernel_dtype_matches_graph.umd.json", umd),),
        udds=((f"{slug}.udd.json", udd),),
        uhds=((f"{slug}.uhd.json", uhd),) if ranked else (),
        kdps=tuple((f"{slug}_{kernels_of.name.partition(' ')[2]}.kdp.json", kernels_of) for kernels_of in packs),
    )
    _check_tuples(catalog, kernels)
    return catalog


def _extension(manifest: Manifest) -> dict[str, Any]:
    """What Winnow's own engine needs beside the descriptors; loaders pass over an `x-` key."""
    dumped = manifest.model_dump(include={"family", "match", "launch_surface"}, exclude_none=True, mode="json")
    return {key: dumped[key] for key in ("family", "match", "launch_surface")}


def _contract(manifest: Manifest, engine_id: str, kmd_id: str) -> dict[str, Any]:
    part = manifest.specialization.model_dump(exclude_none=True)
    order = ("metadata_fields", "matcher_only_fields", "bindings", "vocabulary")
    return {
        "schema_version": 1,
        "consumers": [{"engine_id": engine_id, "kmd_id": kmd_id, **{key: part[key] for key in order}}],
    }


def _descriptor(engine: str, kernel: Kernel) -> Ukd:
    return Ukd(
        id=descriptor_id(engine, "ukd", kernel.name),
        name=kernel.name,
        kernel_source=kernel.kernel_source,
        metadata=dict(kernel.metadata),
        priority=kernel.priority,
    )


def _arches(kernels: Sequence[Kernel]) -> list[str]:
    return list(dict.fromkeys(arch for kernel in kernels for arch in kernel.arch))


def _check_tuples(catalog: Catalog, kernels: Sequence[Kernel]) -> None:
    seen: dict[str, list[Kernel]] = {}
    for kernel, (_, descriptor) in zip(kernels, catalog.kernels(), strict=True):
        for name, value in kernel.metadata.items():
            if value == -1 and not isinstance(value, bool):
                raise InputError(
                    f'{kernel.name}: metadata field "{name}" is -1, which readers take for "not set"',
                    place=kernel.place,
                    cure="leave the field out, or give it a real value",
                )
        rivals = seen.setdefault(canonical_json(catalog.completed_metadata(descriptor)), [])
        for rival in rivals:
            if compete(rival.arch, kernel.arch):
                raise Refused(
                    f"{kernel.name} and {rival.name} have the same metadata and compete on a device",
                    place=kernel.place,
                    cure="a loader drops the whole engine: let a metadata field tell them apart, or remove one",
                )
        rivals.append(kernel)
