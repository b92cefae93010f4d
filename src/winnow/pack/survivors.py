"""Which kernels of a catalog go into one architecture's shard, and the target that each is compiled for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from winnow.descriptors.documents import Kdp, Ukd
from winnow.descriptors.tree import Catalog
from winnow.errors import InputError, Place, Refused
from winnow.identity import canonical_json
from winnow.targets.arches import arch_facts
from winnow.targets.tiers import Tier, admitted_target, covers


@dataclass(frozen=True)
class Survivor:
    """A kernel that a shard takes: `target` is what it is compiled for."""

    place: Place
    kdp: Kdp
    kernel: Ukd
    tier: Tier
    target: str


@dataclass(frozen=True)
class Shadowed:
    """A kernel that the shard leaves out, because `by` has the same metadata and names the device more closely."""

    kernel: str
    by: str


def survivors(catalog: Catalog, arch: str) -> tuple[tuple[Survivor, ...], tuple[Shadowed, ...]]:
    """The kernels of `arch`'s shard in the catalog's order, and those that a closer kernel shadows there.

    Raises:
        InputError: an unknown arch, an arch list with a feature suffix or wider than its pack's, or no kernel at all.
        Refused: two kernels with equal metadata in one tier.
    """
    arch_facts(arch)
    best: dict[str, Survivor] = {}
    shadowed: list[Shadowed] = []
    for candidate in _admitted(catalog, arch):
        key = canonical_json(catalog.completed_metadata(candidate.kernel))
        rival = best.get(key)
        if rival is not None and rival.tier == candidate.tier:
            raise Refused(
                f"{candidate.kernel.name} and {rival.kernel.name} have the same metadata on {arch}",
                place=candidate.place,
                cure="a loader drops the whole engine: let a metadata field tell them apart, or remove one",
            )
        if rival is None or candidate.tier < rival.tier:
            best[key] = candidate
        if rival is not None:
            loser, winner = (rival, candidate) if candidate.tier < rival.tier else (candidate, rival)
            shadowed.append(Shadowed(loser.kernel.name, winner.kernel.name))
    if not best:
        named = sorted({entry for kdp, kernel in catalog.kernels() for entry in kdp.arch_of(kernel)})
        raise InputError(
            f"no kernel of {catalog.ued[1].name} is for {arch}: its shard would be empty",
            cure=f"pack for one that the catalog names: {', '.join(named)}",
        )
    order = {id(kernel): i for i, (_, kernel) in enumerate(catalog.kernels())}
    return tuple(sorted(best.values(), key=lambda survivor: order[id(survivor.kernel)])), tuple(shadowed)


def _admitted(catalog: Catalog, arch: str) -> Iterator[Survivor]:
    for file, kdp in catalog.kdps:
        for i, kernel in enumerate(kdp.kernels):
            place = Place(file, key=f"kernelDescriptors[{i}]")
            arch_list = kdp.arch_of(kernel)
            suffixed = [entry for entry in (*arch_list, *kdp.arch) if ":" in entry]
            if suffixed:
                raise InputError(
                    f'{kernel.name}: arch "{suffixed[0]}" has a feature suffix',
                    place=place,
                    cure=f'write "{suffixed[0].partition(":")[0]}"',
                )
            if not covers(kdp.arch, arch_list):
                raise InputError(
                    f"{kernel.name}: its arch list {arch_list} is wider than its pack's {kdp.arch}",
                    place=place,
                    cure="name every arch in the pack",
                )
            admitted = admitted_target(arch_list, arch)
            if admitted is not None:
                yield Survivor(place, kdp, kernel, *admitted)
