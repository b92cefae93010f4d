"""One device and one compiler for all kernels of the families."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from family_kernels import Bench

from winnow.compilers.c import find_toolchain
from winnow.devices.cpu import CpuDevice


@pytest.fixture(scope="session")
def bench() -> Iterator[Bench]:
    with CpuDevice(timeout_s=20) as device:
        yield Bench(device, find_toolchain())
