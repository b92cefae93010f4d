"""Kernels written in the tests, and a device to run them on."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from triton_samples import product

from winnow.compilers.c import compile_c, find_toolchain
from winnow.compilers.code_object import CodeObject
from winnow.compilers.source import CSource, Parameter
from winnow.compilers.triton import compile_triton, find_triton
from winnow.devices.cpu import CpuDevice

Build = Callable[..., CodeObject]


@pytest.fixture(scope="session")
def build() -> Build:
    """`build(body, "x:ptr", "n:i32")`: a kernel `k` with this body, in which the arguments are `args->x` and so on."""
    toolchain = find_toolchain()
    known: dict[object, CodeObject] = {}

    def compiled(body: str, *parameters: str, target: str = "x86-64-v2", flags: tuple[str, ...] = ()) -> CodeObject:
        key = (body, parameters, target, flags)
        if key not in known:
            text = "".join(f"#include <{name}.h>\n" for name in ("fcntl", "signal", "stdio", "stdlib", "unistd"))
            text += "void WINNOW_SYMBOL(const struct winnow_args *args, int32_t grid_x, int32_t grid_y, int32_t grid_z)"
            text += f" {{ {body} }}"
            split = tuple(Parameter(*parameter.split(":")) for parameter in parameters)
            known[key] = compile_c(CSource("k", text, split, flags=flags), target, toolchain)
        return known[key]

    return compiled


@pytest.fixture
def device() -> Iterator[CpuDevice]:
    with CpuDevice(timeout_s=20) as opened:
        yield opened


@pytest.fixture
def impatient() -> Iterator[CpuDevice]:
    """A device with a short time limit, for kernels that never end."""
    with CpuDevice(timeout_s=0.7) as opened:
        yield opened


@pytest.fixture
def script_environment() -> dict[str, str]:
    """The environment for a Python script of a test: it imports what the test imports."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}


@pytest.fixture(scope="session")
def gpu_code() -> CodeObject:
    """A Triton object for the driver made of host memory."""
    return compile_triton(product("product_16", 16), "gfx950", find_triton())
