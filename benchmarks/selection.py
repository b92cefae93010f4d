"""Time and memory of expanding a selection, for 1,000 to 100,000 kernels: both must grow in step with their number.

    python benchmarks/selection.py [KERNELS ...]

Prints a line for each size: seconds to read the file and to expand it, and the memory that the kernels take. Each size
runs in a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import time

from winnow.selection.document import parse_selection
from winnow.selection.expand import expand

ARMS = 100

HEADER = """\
engine: {name: "bench:Rows", sdk_version: "1.0.0", knobs: [block_m, block_n]}
kernel_source_kind: c
kmd_fields:
- {name: dtype, type: string}
- {name: width, type: int}
- {name: block_m, type: int}
- {name: block_n, type: int}
specialization:
  metadata_fields: [dtype, width, block_m, block_n]
  bindings: {dtype: {field: dtype}, width: {field: width}, block_m: {field: block_m}, block_n: {field: block_n}}
  vocabulary: {dtype: {fp32: FLOAT}}
packs:
- name: main
  arch: [x86-64-v3]
  kernel_defaults: {kind: c, source: bench.rows, builder: build_rows}
  variants:
  - name: "rows.{dtype}_w{width}_bm{block_m}_bn{block_n}.x86-64-v3"
    spec_defaults: {unroll: 1, prefetch: 0, edge: true, vec: 8}
"""


def selection(kernels: int) -> str:
    """The text of a selection with that many kernels: shapes × one knob set of `ARMS` arms."""
    arms = "".join(f"      - {{block_m: {8 * (i % 10 + 1)}, block_n: {16 * (i // 10 + 1)}}}\n" for i in range(ARMS))
    shapes = "".join(f"    - {{dtype: fp32, width: {64 + i}, knobs: all}}\n" for i in range(kernels // ARMS))
    return f"{HEADER}    knob_sets:\n      all:\n{arms}    shapes:\n{shapes}"


def measure(kernels: int) -> str:
    """One line of the table."""
    text = selection(kernels)
    began = time.perf_counter()
    loaded = parse_selection(text, "bench.yaml")
    read = time.perf_counter() - began
    gc.collect()
    before = _resident()
    began = time.perf_counter()
    expanded = expand(loaded)
    took = time.perf_counter() - began
    grown = _resident() - before
    if len({kernel.name for kernel in expanded}) != kernels:
        raise SystemExit(f"expected {kernels} distinct kernels")
    return (
        f"{kernels:>9,} kernels  read {read:7.3f} s  expand {took:7.3f} s ({took / kernels * 1e6:6.1f} µs each)  "
        f"{grown / 1e6:7.1f} MB ({grown / kernels:6.0f} bytes each)"
    )


def _resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def main(sizes: list[str]) -> None:
    """Measure one size in this process, or each of several in its own."""
    if len(sizes) == 1:
        print(measure(int(sizes[0])))
        return
    for size in sizes or ["1000", "10000", "100000"]:
        subprocess.run([sys.executable, __file__, size], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
