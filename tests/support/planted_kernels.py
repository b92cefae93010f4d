"""GEMM kernels that do wrong in ways that really happen; their builders look like those of good ones."""

from __future__ import annotations

from dataclasses import replace

from winnow.compilers.source import CSource
from winnow.families.gemm.blocked import build_gemm_blocked, supports_gemm_blocked
from winnow.families.gemm.spec import BlockedSpec


def _wrapped(spec: BlockedSpec, arch: str, fault: str) -> CSource:
    """The good kernel under another name, called by a function that does the fault."""
    good = build_gemm_blocked(spec, arch=arch)
    symbol = f"planted_{good.symbol}"
    text = f"""
#undef WINNOW_SYMBOL
#define WINNOW_SYMBOL good_kernel
{good.text}
void {symbol}(const struct winnow_args *args, int32_t grid_x, int32_t grid_y, int32_t grid_z)
{{
    {fault}
}}
"""
    return replace(good, symbol=symbol, text=text)


def build_wrong(spec: BlockedSpec, *, arch: str) -> CSource:
    """Right everywhere except in one element."""
    return _wrapped(spec, arch, "good_kernel(args, grid_x, grid_y, grid_z); ((float *)args->c)[0] += 1.0f;")


def build_partial(spec: BlockedSpec, *, arch: str) -> CSource:
    """Writes nothing, and would pass if the outputs still held what another kernel left there."""
    return _wrapped(spec, arch, "(void)args, (void)grid_x, (void)grid_y, (void)grid_z; (void)good_kernel;")


def build_endless(spec: BlockedSpec, *, arch: str) -> CSource:
    """Never returns."""
    return _wrapped(spec, arch, "good_kernel(args, grid_x, grid_y, grid_z); for (volatile int i = 0;; i ^= 1) {}")


def build_crash(spec: BlockedSpec, *, arch: str) -> CSource:
    """An illegal instruction."""
    return _wrapped(spec, arch, "good_kernel(args, grid_x, grid_y, grid_z); __builtin_trap();")


supports_wrong = supports_partial = supports_endless = supports_crash = supports_gemm_blocked
