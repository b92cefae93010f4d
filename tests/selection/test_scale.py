"""A selection of 100,000 kernels must stay usable: what expansion takes grows in step with the kernels, no faster."""

from __future__ import annotations

import runpy
import subprocess
import sys
import tracemalloc
from pathlib import Path

from winnow.selection.document import parse_selection
from winnow.selection.expand import expand

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "selection.py"


def test_memory_grows_in_step_with_the_kernels():
    selection = runpy.run_path(str(BENCHMARK), run_name="benchmark")["selection"]
    peaks = []
    for kernels in (500, 2000):
        loaded = parse_selection(selection(kernels), "s.yaml")
        tracemalloc.start()
        assert len(expand(loaded)) == kernels
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 5 * peaks[0]


def test_the_benchmark_prints_time_and_memory_of_each_size():
    done = subprocess.run([sys.executable, BENCHMARK, "100", "200"], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["100", "200"]
    assert all("expand" in line and "bytes each" in line for line in lines)
