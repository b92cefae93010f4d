"""A shard must hold exactly what its devices may run: a kernel too many drops the engine, one too few is a gap."""

from __future__ import annotations

import pack_samples as samples
import pytest

from winnow.errors import InputError, Refused
from winnow.pack.survivors import Shadowed, survivors
from winnow.targets.tiers import Tier, admitted_target


@pytest.mark.parametrize(
    ("arch_list", "arch", "found"),
    [
        (["x86-64-v3", "x86-64-generic"], "x86-64-v3", (Tier.EXPLICIT, "x86-64-v3")),
        (["x86-64-v3", "x86-64-generic"], "x86-64-v4", (Tier.GENERIC, "x86-64-generic")),
        (["gfx11-generic"], "gfx1151", (Tier.GENERIC, "gfx11-generic")),
        (["gfx11-generic"], "gfx11-generic", (Tier.GENERIC, "gfx11-generic")),
        (["gfx1151"], "gfx11-generic", None),
        ([], "gfx942", (Tier.UNRESTRICTED, "gfx942")),
        ([], "gfx11-generic", (Tier.UNRESTRICTED, "gfx11-generic")),
        (["gfx942"], "gfx950", None),
    ],
)
def test_targets_that_kernels_are_compiled_for(arch_list: list[str], arch: str, found: tuple[Tier, str] | None) -> None:
    assert admitted_target(arch_list, arch) == found


def test_the_closer_of_two_equal_kernels_is_packed_and_the_other_is_reported() -> None:
    generic = samples.kernel("generic", tile=4, arch=["x86-64-generic"])
    native = samples.kernel("native", tile=4, arch=["x86-64-v3"])
    other = samples.kernel("other", tile=8, arch=["x86-64-generic"])
    for kernels in ((generic, other, native), (native, generic, other)):
        found, shadowed = survivors(samples.catalog(*kernels), "x86-64-v3")
        assert [s.kernel.name for s in found] == [k.name for k in kernels if k is not generic]
        assert shadowed == (Shadowed("generic", "native"),)
    found, shadowed = survivors(samples.catalog(generic, other, native), "x86-64-v4")
    assert [(s.kernel.name, s.target) for s in found] == [("generic", "x86-64-generic"), ("other", "x86-64-generic")]
    assert shadowed == ()


def test_equal_metadata_in_one_tier_is_refused() -> None:
    with pytest.raises(Refused) as error:
        survivors(samples.catalog(samples.kernel("a"), samples.kernel("b")), "x86-64-v3")
    assert str(error.value) == (
        "packs/main.kdp.json: kernelDescriptors[1]: b and a have the same metadata on x86-64-v3\n"
        "  cure: a loader drops the whole engine: let a metadata field tell them apart, or remove one"
    )


def test_an_arch_without_kernels_and_an_unknown_arch_are_errors() -> None:
    with pytest.raises(InputError) as error:
        survivors(samples.catalog(samples.kernel("a")), "gfx942")
    assert str(error.value) == (
        "no kernel of winnow:Sample is for gfx942: its shard would be empty\n"
        "  cure: pack for one that the catalog names: x86-64-generic, x86-64-v3"
    )
    with pytest.raises(InputError) as error:
        survivors(samples.catalog(samples.kernel("a")), "x86-64-v5")
    assert str(error.value).startswith('unknown architecture "x86-64-v5"\n  cure: did you mean "x86-64-v')


def test_arch_lists_that_no_loader_takes() -> None:
    with pytest.raises(InputError) as error:
        survivors(samples.catalog(samples.kernel("a", arch=["gfx942:xnack-"]), arch=[]), "gfx942")
    assert str(error.value) == (
        'packs/main.kdp.json: kernelDescriptors[0]: a: arch "gfx942:xnack-" has a feature suffix\n'
        '  cure: write "gfx942"'
    )
    with pytest.raises(InputError) as error:
        survivors(samples.catalog(samples.kernel("a", arch=["gfx942", "x86-64-v3"])), "x86-64-v3")
    assert str(error.value) == (
        "packs/main.kdp.json: kernelDescriptors[0]: a: its arch list ['gfx942', 'x86-64-v3'] is wider than its "
        "pack's ['x86-64-v3', 'x86-64-generic']\n  cure: name every arch in the pack"
    )
