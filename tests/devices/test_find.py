"""Which runtime runs what an archive holds."""

from __future__ import annotations

import pytest

from winnow.devices.find import find_runtime, runtime_for
from winnow.errors import InputError


@pytest.mark.parametrize(
    ("arches", "runtime"),
    [
        (("gfx950",), "hip"),
        (("gfx11-generic", "gfx12-generic"), "hip"),
        (("sm_90",), "cuda"),
        (("x86-64-v3",), "cpu"),
        (("gfx950", "x86-64-generic"), "cpu"),
        (("gfx950", "sm_90"), "cuda"),
        (("some-folder",), "cpu"),
        ((), "cpu"),
    ],
)
def test_the_runtime_follows_from_the_architectures(arches: tuple[str, ...], runtime: str) -> None:
    assert runtime_for(arches) == runtime


def test_an_unknown_runtime_is_told_with_those_that_there_are() -> None:
    with pytest.raises(InputError) as error:
        find_runtime("hpi")
    assert str(error.value) == (
        'no device runtime "hpi" is installed\n'
        '  cure: did you mean "hip"?; a device runtime is an entry point of the group winnow.devices'
    )
