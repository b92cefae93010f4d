"""Time and memory of generating a catalog: the 840 kernels of a published one, then up to 100,000 of one like it.

    python benchmarks/descriptors.py [KERNELS ...]

Each size runs in a process of its own, twice: the two outputs must be the same bytes. Prints seconds from the text of
the selection to the text of the descriptors, seconds for each 1,000 kernels (which must not grow), and peak memory.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

from winnow.descriptors.generate import generate
from winnow.identity import sha256_hex
from winnow.selection.document import parse_selection
from winnow.selection.expand import expand

DENSE = Path(__file__).parent.parent / "tests" / "data" / "hipdnn" / "gfx950_attention_dense.yaml"
SIZES = (840, 10_000, 100_000)
_SHAPES = "    shapes:\n"


def selection(kernels: int) -> str:
    """The published selection; for another size its first group with as many head counts as that needs."""
    text = DENSE.read_text(encoding="utf-8")
    if kernels == 840:
        return text
    head = text[: text.index(_SHAPES) + len(_SHAPES)]
    shapes = (
        f"    - {{dtype: bf16, num_query_heads: {8 * (i + 1)}, num_kv_heads: 8, causal: true, knobs: d64_tiles}}\n"
        for i in range(kernels // 7)
    )
    return head + "".join(shapes)


def measure(kernels: int) -> str:
    """`KERNELS SECONDS MEGABYTES DIGEST` of one run in this process."""
    text = selection(kernels)
    began = time.perf_counter()
    loaded = parse_selection(text, "selection.yaml")
    catalog = generate(loaded.selection.header(), expand(loaded))
    files = catalog.files()
    seconds = time.perf_counter() - began
    made = sum(1 for _ in catalog.kernels())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{made} {seconds:.3f} {peak:.0f} {sha256_hex(''.join(files.values()))[:16]}"


def main(sizes: list[int]) -> int:
    """Run each size twice and print a line for it; 1 if two runs differ."""
    print(f"{'kernels':>9}  {'seconds':>8}  {'ms/1,000':>8}  {'peak MB':>8}  output")
    code = 0
    for size in sizes:
        command = [sys.executable, __file__, "--one", str(size)]
        runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(2)]
        made, seconds, peak = int(runs[0][0]), min(float(run[1]) for run in runs), float(runs[0][2])
        same = runs[0][3] == runs[1][3]
        code |= not same
        verdict = f"{runs[0][3]} twice" if same else f"{runs[0][3]} and {runs[1][3]}: DIFFERENT"
        print(f"{made:>9,}  {seconds:>8.3f}  {1e6 * seconds / made:>8.1f}  {peak:>8.0f}  {verdict}", flush=True)
    return code


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(measure(int(sys.argv[2])))
    else:
        sys.exit(main([int(text) for text in sys.argv[1:]] or list(SIZES)))
