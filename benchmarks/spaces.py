"""Counting, listing and sampling constrained spaces: Winnow beside the tools in use, interleaved in one run.

    python benchmarks/spaces.py [--rounds N] [--limit SECONDS] [--memory MB] [FILE ...]

Without files it takes those of `benchmarks/spaces/`. Each tool first runs in a process of its own, for its memory, and
is left out where it exceeds the limit of time or memory. Then the tools that took less than a third of the limit take
turns in one process, so that a slow minute of the machine is everybody's. Every clock runs from the values and the
rules as text, the form in which data has them, and includes what turns that text into the tool's own form:

    winnow, kernel_tuner, python-constraint2    take the text itself
    pyatf          text of functions, put together before the clock starts, is evaluated; each rule belongs to the
                   last parameter that it reads, in the order of the file
    itertools      one function of all rules; every point of the product is tried

Prints a table (medians) and whether Winnow meets its targets. Exit code 0: it does, 1: it does not, 3: not all tools
are installed (`pip install winnow-kernels[bench]`), or they disagree on a count.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib.util
import itertools
import json
import math
import multiprocessing
import os
import random
import resource
import signal
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SAMPLES = 1000
PRODUCT_LIMIT = 30_000_000
OFTEN_ENOUGH_S = 0.02
FUNCTIONS = {"ceil": math.ceil, "floor": math.floor, "log2": math.log2}

Definition = dict[str, Any]


@dataclass
class Figures:
    """One measurement: seconds from the definition to the count and to the list, and for a sample."""

    count: int
    count_s: float
    list_s: float
    sample_s: float


@dataclass(frozen=True)
class Tool:
    """How a tool is asked. `build` comes to where the count is known; `listed` makes the list of all valid points.

    Without `listed` the list is there once it is built, unless `lists` says that the tool makes none.
    """

    name: str
    module: str
    build: Callable[[Any], Any]
    count: Callable[[Any], int]
    sample: Callable[[Any], Any]
    listed: Callable[[Any], list[Any]] | None = None
    lists: bool = True
    prepare: Callable[[Definition], Any] = lambda space: space

    def run(self, space: Definition) -> Figures:
        """One turn. What takes little time is built several times, of which the median counts."""
        prepared, times = self.prepare(space), list[float]()
        while not times or sum(times) < OFTEN_ENOUGH_S:
            built = None
            began = time.perf_counter()
            built = self.build(prepared)
            found = self.count(built)
            times.append(time.perf_counter() - began)
        count_s = list_s = statistics.median(times)
        began = time.perf_counter()
        self.sample(built)
        sample_s = (time.perf_counter() - began) / SAMPLES
        if self.listed is not None and found <= PRODUCT_LIMIT:
            began = time.perf_counter()
            assert len(self.listed(built)) == found
            list_s += time.perf_counter() - began
        elif not self.lists or found > PRODUCT_LIMIT:
            list_s = math.nan
        return Figures(found, count_s, list_s, sample_s)


def build_winnow(space: Definition) -> Any:
    from winnow.spaces import Rule, TuningSpace, choices

    axes = tuple(choices(name, values) for name, values in space["params"].items())
    rules = [
        Rule.from_expression(text, name=f"constraints[{i}]", names=space["params"])
        for i, text in enumerate(space["constraints"])
    ]
    return TuningSpace(axes, tuple(rules))


def build_kernel_tuner(space: Definition) -> Any:
    from kernel_tuner.searchspace import Searchspace

    return Searchspace(space["params"], list(space["constraints"]), 1 << 40)


def build_python_constraint(space: Definition) -> Any:
    from constraint import Problem

    problem = Problem()
    for name, values in space["params"].items():
        problem.addVariable(name, values)
    for text in space["constraints"]:
        problem.addConstraint(text)
    return problem.getSolutionsOrderedList(list(space["params"]))


def prepare_pyatf(space: Definition) -> list[tuple[str, list[Any], str]]:
    """Each parameter, its values and the text of its rule: all of which it is the last parameter in the file."""
    names = list(space["params"])
    rules: dict[str, list[str]] = {name: [] for name in names}
    for text in space["constraints"]:
        rules[max(_reads(text, names), key=names.index)].append(text)
    prepared = []
    for name, values in space["params"].items():
        reads = sorted({name}.union(*(_reads(text, names) for text in rules[name])), key=names.index)
        body = " and ".join(f"({text})" for text in rules[name])
        prepared.append((name, values, f"lambda {', '.join(reads)}: {body}" if body else ""))
    return prepared


def _reads(text: str, names: Sequence[str]) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)} & set(names)


def build_pyatf(prepared: list[tuple[str, list[Any], str]]) -> Any:
    from pyatf.range import Set
    from pyatf.search_space import SearchSpace
    from pyatf.tp import TP

    parameters = []
    for name, values, text in prepared:
        parameters.append(TP(name, Set(*values), eval(text, dict(FUNCTIONS)) if text else None))
    return SearchSpace(*parameters, verbosity=0)


def sample_pyatf(built: Any) -> None:
    draw = random.Random(1)
    for _ in range(SAMPLES):
        built.get_configuration(tuple([1 - draw.random() for _ in range(built.num_tps)]))


def build_product(space: Definition) -> Any:
    if math.prod(map(len, space["params"].values())) > PRODUCT_LIMIT:
        raise TimeoutError
    body = " and ".join(f"({text})" for text in space["constraints"]) or "True"
    test = eval(f"lambda {', '.join(space['params'])}: {body}", dict(FUNCTIONS))
    return [point for point in itertools.product(*space["params"].values()) if test(*point)]


def sample_list(listed: list[Any]) -> None:
    random.Random(1).choices(listed, k=SAMPLES)


TOOLS = (
    Tool(
        "winnow",
        "winnow",
        build_winnow,
        lambda space: space.count(),
        lambda space: space.sample(SAMPLES, seed=1),
        listed=lambda space: list(space.tuples()),
    ),
    Tool(
        "kernel_tuner",
        "kernel_tuner",
        build_kernel_tuner,
        lambda built: built.size,
        lambda built: built.get_random_sample(min(SAMPLES, built.size)),
    ),
    Tool("python-constraint2", "constraint", build_python_constraint, len, sample_list),
    Tool(
        "pyatf",
        "pyatf",
        build_pyatf,
        lambda built: built.constrained_size,
        sample_pyatf,
        lists=False,
        prepare=prepare_pyatf,
    ),
    Tool("itertools", "itertools", build_product, len, sample_list),
)
OURS = TOOLS[0].name


@dataclass
class Results:
    """What was measured of one space, by tool; a text says why a tool has no figures."""

    space: Definition
    figures: dict[str, list[Figures]] = field(default_factory=dict)
    peaks: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def median(self, tool: str, part: str) -> float:
        values = [getattr(one, part) for one in self.figures.get(tool, ())]
        return statistics.median(values) if values else math.nan

    @property
    def cartesian(self) -> int:
        return math.prod(map(len, self.space["params"].values()))

    @property
    def counts(self) -> set[int]:
        return {one.count for figures in self.figures.values() for one in figures}


def alone(tool: Tool, space: Definition, limit_s: int, memory_mb: int) -> tuple[Figures, float] | str:
    """One run in a process of its own, and the peak of its memory in MB; or why it came to nothing."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(tool, space, limit_s, memory_mb, theirs))
    process.start()
    theirs.close()
    try:
        answer: tuple[Figures, float] | str = ours.recv()
    except EOFError:
        answer = "died"
    process.join()
    return answer


def _child(tool: Tool, space: Definition, limit_s: int, memory_mb: int, pipe: Any) -> None:
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - until the process ends: what runs out of memory says so often
    resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
    signal.signal(signal.SIGALRM, _out_of_time)
    signal.alarm(limit_s)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        found = tool.run(space)
        peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        pipe.send((found, peak))
    except TimeoutError:
        signal.alarm(0)
        pipe.send(f"over {limit_s} s")
    except MemoryError:
        signal.alarm(0)
        pipe.send(f"over {memory_mb} MB")


def _out_of_time(*_: object) -> None:
    raise TimeoutError


def compare(space: Definition, tools: Sequence[Tool], rounds: int, limit_s: int, memory_mb: int) -> Results:
    """All tools on one space: each alone, then taking turns."""
    results = Results(space)
    quick = []
    for tool in tools:
        began = time.perf_counter()
        found = alone(tool, space, limit_s, memory_mb)
        if isinstance(found, str):
            results.failed[tool.name] = found
        elif time.perf_counter() - began < limit_s / 3:
            results.peaks[tool.name] = found[1]
            quick.append(tool)
        else:
            results.figures[tool.name], results.peaks[tool.name] = [found[0]], found[1]
    for turn in range(rounds):
        for at in range(len(quick)):
            tool = quick[(turn + at) % len(quick)]
            gc.collect()
            results.figures.setdefault(tool.name, []).append(tool.run(space))
    return results


def table(results: Results, tools: Sequence[Tool]) -> Iterable[str]:
    """The lines of one space."""
    valid = ", ".join(map(str, sorted(results.counts)))
    yield f"\n{results.space['name']}: {results.cartesian:.3g} points, {valid} valid"
    yield f"  {'':20}{'count':>13}{'':>9}{'list':>13}{'':>9}{'a sample':>12}{'memory':>10}"
    for tool in tools:
        if tool.name in results.failed:
            yield f"  {tool.name:20}{results.failed[tool.name]:>13}"
            continue
        cells = []
        for part in ("count_s", "list_s"):
            own, value = results.median(OURS, part), results.median(tool.name, part)
            cells.append("-" if math.isnan(value) else f"{1e3 * value:.3f} ms")
            cells.append("" if tool.name == OURS or math.isnan(value / own) else f"{value / own:.1f}x")
        sample, peak = results.median(tool.name, "sample_s"), results.peaks[tool.name]
        yield (
            f"  {tool.name:20}{cells[0]:>13}{cells[1]:>9}{cells[2]:>13}{cells[3]:>9}"
            f"{1e6 * sample:>9.1f} µs{peak:>7.0f} MB"
        )


def verdicts(all_results: Sequence[Results], tools: Sequence[Tool]) -> Iterable[tuple[bool, str]]:
    """The targets, and whether they are met on every space that they speak of."""
    others = [tool.name for tool in tools if tool.name != OURS]
    for results in all_results:
        name = results.space["name"]
        ours = results.median(OURS, "count_s")
        rivals = {tool: results.median(tool, "count_s") for tool in others if tool in results.figures}
        if rivals and results.cartesian >= 1e5:
            fastest = min(rivals, key=rivals.__getitem__)
            ratio = rivals[fastest] / ours
            yield ratio >= 1, f"{name}: counts at least as fast as the fastest other tool ({fastest}: {ratio:.1f}x)"
        if "kernel_tuner" in rivals and results.cartesian >= 1e6:
            ratio = rivals["kernel_tuner"] / ours
            yield ratio >= 20, f"{name}: counts at least 20 times faster than Kernel Tuner ({ratio:.0f}x)"
        if "kernel_tuner" in rivals and results.cartesian >= 1e5:
            ratio = results.median("kernel_tuner", "list_s") / results.median(OURS, "list_s")
            yield ratio >= 3, f"{name}: lists at least 3 times faster than Kernel Tuner ({ratio:.1f}x)"
        sample = 1e6 * results.median(OURS, "sample_s")
        yield sample < 50, f"{name}: a sample takes less than 50 µs ({sample:.1f} µs)"
        if name == "attention_like":
            peak = results.peaks[OURS]
            yield ours < 0.05 and peak < 200, f"{name}: under 50 ms and 200 MB ({1e3 * ours:.1f} ms, {peak:.0f} MB)"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=int, default=60, help="seconds for one run of one tool")
    parser.add_argument("--memory", type=int, default=3000, help="MB of address space for one run of one tool")
    options = parser.parse_args()
    files = options.files or sorted((Path(__file__).parent / "spaces").glob("*.json"))
    tools = [tool for tool in TOOLS if importlib.util.find_spec(tool.module)]
    if TOOLS[0] not in tools:
        parser.error("Winnow is not installed for this Python: pip install -e '.[bench]'")
    for tool in tools:
        tool.run({"params": {"a": [*range(100)], "b": [*range(100)]}, "constraints": ["a <= b"]})
    warnings.simplefilter("ignore")
    all_results = []
    for file in files:
        space = json.loads(file.read_text())
        all_results.append(compare(space, tools, options.rounds, options.limit, options.memory))
        print("\n".join(table(all_results[-1], tools)), flush=True)
    print()
    met = [(good, text) for good, text in verdicts(all_results, tools)]
    for good, text in met:
        print(f"{'met   ' if good else 'MISSED'}  {text}")
    missing = [tool.name for tool in TOOLS if tool not in tools]
    if missing:
        print(f"not installed: {', '.join(missing)}")
    torn = [results.space["name"] for results in all_results if len(results.counts) != 1]
    if torn:
        print(f"tools disagree on the count: {', '.join(torn)}")
    return 3 if missing or torn else 0 if all(good for good, _ in met) else 1


if __name__ == "__main__":
    sys.exit(main())
