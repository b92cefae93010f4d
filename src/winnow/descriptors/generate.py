"""Selection → descriptors: the same files, with the same bytes, every time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from winnow.descriptors.documents import VERSION, Kdp, Kmd, NativeSymbol, Udd, Ued, Uhd, UhdNative, Ukd, Umd
from winnow.descriptors.duplicates import distinct
from winnow.descriptors.ids import FRESH, KeptIds, Kind
from winnow.descriptors.prechecks import draft_of, precheck
from winnow.descriptors.tree import Catalog
from winnow.errors import InputError
from winnow.selection.kernel import Kernel
from winnow.settings.header import Header, slug_of
from winnow.settings.manifest import Manifest


def generate(header: Header, kernels: Sequence[Kernel], kept: KeptIds = FRESH) -> Catalog:
    """The descriptors of an engine. A kernel that repeats an earlier one in everything but its name is left out.

    Of a header that is a manifest the engine's descriptor carries what Winnow's own engine needs (`x-winnow`).

    Raises:
        InputError: no kernels, or the first thing that the pre-mint checks find.
        Refused: two kernels that compete on some device have the same completed metadata (a loader would drop the
            whole engine).
    """
    if not kernels:
        raise InputError("there are no kernels to generate descriptors of")
    precheck(draft_of(header, kernels))
    return _Generator(header, kept).catalog(distinct(header.kmd_fields, kernels))


def symbols_of(header: Header) -> str:
    """The prefix of an engine's native symbols: `<namespace>.<snake case of the local name>`."""
    namespace = header.engine.native_symbol_namespace or header.engine.name.partition(":")[0]
    return f"{namespace}.{slug_of(header.engine.name)}"


def discriminator_symbol(header: Header, discriminator: str) -> str:
    """The symbol that says whether a graph is one for the packs of this discriminator."""
    return f"{symbols_of(header)}.{discriminator}_match"


class _Generator:
    """One engine's header, and where ids come from."""

    def __init__(self, header: Header, kept: KeptIds) -> None:
        self.header, self.kept = header, kept
        self.engine, self.slug, self.symbols = header.engine, slug_of(header.engine.name), symbols_of(header)

    def ids(self, kind: Kind, name: str, key: str | None = None) -> dict[str, Any]:
        return {"version": VERSION, "id": self.kept.mint(self.engine.name, kind, name, key), "name": name}

    def catalog(self, kernels: Sequence[Kernel]) -> Catalog:
        name, ranked = self.engine.name, self.engine.heuristic == "native"
        kmd = Kmd(**self.ids("kmd", name, ""), fields=self.header.kmd_fields)
        score, match, dispatch = (f"{self.symbols}.{hook}" for hook in ("score", "kernel_match", "dispatch"))
        uhd = Uhd(
            **self.ids("uhd", f"{name} score", score),
            adapter="native",
            objective="max",
            native=UhdNative(symbol=score),
        )
        ued = self.ued(kmd, uhd if ranked else None)
        umd = Umd(**self.ids("umd", f"{name} kernel match", match), scope="kernel", match_symbol=match)
        udd = Udd(**self.ids("udd", f"{name} dispatch", dispatch), dispatch_symbol=dispatch)
        packs = draft_of(self.header, kernels).packs
        operations = {disc: self.operation(disc) for _, members in packs if (disc := members[0].discriminator)}
        kdps: list[tuple[str, Kdp]] = []
        for pack, members in packs:
            told_apart = [operations[disc].id] if (disc := members[0].discriminator) else []
            stem = self.slug if len(packs) == 1 else f"{self.slug}_{pack}"
            kdps.append((f"{stem}.kdp.json", self.kdp(pack, members, [*told_apart, umd.id], ued, kmd, udd)))
        return Catalog(
            kmd=(f"{self.slug}.kmd.json", kmd),
            ued=(f"{self.slug}.ued.json", ued),
            umds=(
                ("kernel_dtype_matches_graph.umd.json", umd),
                *((f"operation_is_{disc}.umd.json", found) for disc, found in operations.items()),
            ),
            udds=((f"{self.slug}.udd.json", udd),),
            uhds=((f"{self.slug}.uhd.json", uhd),) if ranked else (),
            kdps=tuple(kdps),
        )

    def ued(self, kmd: Kmd, uhd: Uhd | None) -> Ued:
        extension: dict[str, Any] = {}
        if isinstance(self.header, Manifest):
            extension["x-winnow"] = _extension(self.header)
        return Ued(
            **self.ids("ued", self.engine.name, ""),
            sdk_version=self.engine.sdk_version,
            graph_match=NativeSymbol(native=f"{self.symbols}.graph_match"),
            metadata=kmd.id,
            sort_kernel_catalog=None if uhd is None else {"default": uhd.id},
            knobs=list(self.engine.knobs),
            behavior_notes=list(self.engine.behavior_notes),
            **extension,
        )

    def operation(self, discriminator: str) -> Umd:
        symbol = discriminator_symbol(self.header, discriminator)
        name = f"{self.engine.name} operation is {discriminator}"
        return Umd(**self.ids("umd", name, symbol), scope="graph", match_symbol=symbol)

    def kdp(self, pack: str, members: Sequence[Kernel], matchers: list[str], ued: Ued, kmd: Kmd, udd: Udd) -> Kdp:
        arch = _arches(members)
        return Kdp(
            **self.ids("kdp", f"{self.engine.name.partition(':')[0]}:{pack}"),
            matchers=matchers,
            engine=ued.id,
            dispatch=udd.id,
            provenance={"specialization_contract": _contract(self.header, ued.id, kmd.id)},
            kernelDescriptors=[self.ukd(kernel, arch) for kernel in members],
            arch=arch,
        )

    def ukd(self, kernel: Kernel, pack_arch: list[str]) -> Ukd:
        return Ukd(
            **self.ids("ukd", kernel.name),
            kernel_source=kernel.kernel_source,
            metadata=dict(kernel.metadata),
            priority=kernel.priority,
            arch=None if list(kernel.arch) == pack_arch else list(kernel.arch),
        )


def _extension(manifest: Manifest) -> dict[str, Any]:
    """What Winnow's own engine needs beside the descriptors; loaders pass over an `x-` key."""
    dumped = manifest.model_dump(include={"family", "match", "launch_surface"}, exclude_none=True, mode="json")
    return {key: dumped[key] for key in ("family", "match", "launch_surface")}


def _contract(header: Header, engine_id: str, kmd_id: str) -> dict[str, Any]:
    part = header.specialization.model_dump(exclude_none=True)
    if isinstance(header, Manifest):
        # A knob that a spec may leave to policy is observed as the builder resolves it, not as it was left.
        part["bindings"] |= {name: {"method": accessor} for name, accessor in header.enumerate.accessors.items()}
    order = ("metadata_fields", "matcher_only_fields", "bindings", "vocabulary")
    return {
        "schema_version": 1,
        "consumers": [{"engine_id": engine_id, "kmd_id": kmd_id, **{key: part[key] for key in order}}],
    }


def _arches(kernels: Sequence[Kernel]) -> list[str]:
    """Where a pack runs: wherever one of its kernels does; everywhere if one of them does."""
    if not all(kernel.arch for kernel in kernels):
        return []
    return list(dict.fromkeys(arch for kernel in kernels for arch in kernel.arch))
