"""What is refused as a tie must be exactly what ties on some device, and what is served there must be the closest."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from pack_samples import catalog, kernel

from winnow.descriptors.duplicates import competitors, devices_of, served
from winnow.targets.generics import GENERICS
from winnow.targets.tiers import tier

NAMES = ("gfx942", "gfx1100", "gfx1151", "gfx1200", "gfx11-generic", "gfx12-generic")
DEVICES = (*NAMES[:4], *GENERICS["gfx11-generic"], *GENERICS["gfx12-generic"], "gfx90a")

arch_lists = st.lists(st.sampled_from(NAMES), unique=True, max_size=3)
kernels = st.lists(st.tuples(arch_lists, st.integers(0, 1)), min_size=2, max_size=6)


@given(kernels)
def test_a_tie_is_found_where_a_device_gives_two_kernels_one_tier(drawn: list[tuple[list[str], int]]):
    found = {again for _, again in competitors((i, {"m": m}, arch) for i, (arch, m) in enumerate(drawn))}
    ties = set()
    for (_, (a, m)), (j, (b, n)) in combinations(enumerate(drawn), 2):
        if m == n and any(tier(a, d) is not None and tier(a, d) == tier(b, d) for d in DEVICES):
            ties.add(j)
    assert found == ties


@given(st.lists(arch_lists, min_size=1, max_size=5))
def test_of_equal_metadata_the_closest_is_served(lists: list[list[str]]):
    made = catalog(*(kernel(f"k{i}", arch=arch) for i, arch in enumerate(lists)), arch=[])
    for device in DEVICES:
        tiers = [tier(arch, device) for arch in lists]
        known = [t for t in tiers if t is not None]
        expected = [f"k{tiers.index(min(known))}"] if known else []
        assert [k.name for _, k, _ in served(made, device)] == expected
    assert set(devices_of(made)) == {d for arch in lists for name in arch for d in GENERICS.get(name, (name,))}
