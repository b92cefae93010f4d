"""How fast a GEMM kernel should be on a problem, from its metadata alone: what ranks kernels before measurement."""

from __future__ import annotations

from collections.abc import Mapping

from winnow.families.adapter import Field
from winnow.families.cpu import INT32_MAX

# A core of 2.5 GHz that starts two multiply-adds a cycle, each of four cycles, and reads 8 bytes a cycle from memory.
_GIGAHERTZ = 2.5
_FMA_PER_CYCLE = 2
_FMA_LATENCY = 4
_BYTES_PER_CYCLE = 8.0


def predicted_gflops(metadata: Mapping[str, Field], fields: Mapping[str, Field]) -> float:
    """Operations per nanosecond; a size or knob that is not said counts as 1, and a kernel with no sense as 0."""
    batch, m, n, k = (_number(fields, name) for name in ("batch", "m", "n", "k"))
    skinny = _number(metadata, "max_m", INT32_MAX) < INT32_MAX
    cycles = (_skinny_cycles if skinny else _blocked_cycles)(metadata, fields, m, n, k)
    return 2 * m * n * k * batch / (cycles * batch) * _GIGAHERTZ


def _number(record: Mapping[str, Field], name: str, absent: int = 1) -> int:
    """A count: what is missing, no number, or not from 1 to the largest size is `absent`."""
    value = record.get(name, absent)
    return int(value) if isinstance(value, int | float) and 1 <= value <= INT32_MAX else absent


def _flag(record: Mapping[str, Field], name: str) -> bool:
    return bool(record.get(name, 0))


def _rounded(size: int, step: int) -> int:
    return -(-size // step) * step


def _multiply_cycles(products: float, vec: int, independent: int, loads_per_product: float) -> float:
    """Cycles of vector multiply-adds that wait for their sums or for loads, whichever is slower."""
    rate = min(_FMA_PER_CYCLE, independent / _FMA_LATENCY, 2 / loads_per_product)
    return products / (vec * rate)


def _overlapped(compute: float, memory: float) -> float:
    """The longer of the two hides most of the shorter one."""
    return max(compute, memory) + 0.1 * min(compute, memory)


def _blocked_cycles(metadata: Mapping[str, Field], fields: Mapping[str, Field], m: int, n: int, k: int) -> float:
    reg_m, reg_v, vec = (_number(metadata, name) for name in ("reg_m", "reg_v", "vec"))
    block_n, block_k = _number(metadata, "block_n"), _number(metadata, "block_k")
    products = _rounded(m, reg_m) * _rounded(n, reg_v * vec) * k
    loads = (reg_m + reg_v) / (reg_m * reg_v)
    compute = _multiply_cycles(products, vec, reg_m * reg_v, loads)
    # Each sum goes to memory and back once for each block of k.
    compute += 2 * m * n / vec * -(-k // block_k)
    if _flag(metadata, "pack_a"):
        compute += m * k * -(-n // block_n)
    if _flag(metadata, "pack_b"):
        compute += n * k * (0.5 if fields.get("b_layout") == "col" else 2 / vec)
    else:
        # Lines of B that are far apart cost pages, and the same few places of the first cache.
        compute *= 1 + 0.6 * min(1.0, _number(fields, "stride_bk", n) / 1024)
    traffic = 4 * n * k + 4 * m * k * -(-n // block_n) / 4
    return _overlapped(compute, traffic / _BYTES_PER_CYCLE)


def _skinny_cycles(metadata: Mapping[str, Field], fields: Mapping[str, Field], m: int, n: int, k: int) -> float:
    streams, unroll, vec = (_number(metadata, name) for name in ("streams", "unroll", "vec"))
    rows = _number(metadata, "rows", _number(metadata, "max_m"))
    if fields.get("b_layout") == "col":
        independent, loads = rows * streams * unroll, (1 + rows) / rows
    else:
        # Every element of C is read and written once for each group of streams, one of A serves a step.
        independent, loads = rows * unroll, 1 / rows + 1 / unroll + 2 / streams
    compute = _multiply_cycles(rows * n * k, vec, independent, loads)
    return _overlapped(compute, 4 * n * k / _BYTES_PER_CYCLE) * -(-m // rows)
