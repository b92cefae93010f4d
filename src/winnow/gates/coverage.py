"""Gate `coverage`: whatever the registry serves of the engine's corpus, a selected kernel serves."""

from __future__ import annotations

from winnow.coverage.asked import Asked, asked_graphs, asked_shapes
from winnow.coverage.cover import counts, cover, vacuous
from winnow.engine_dir import EngineDir
from winnow.errors import InputError
from winnow.gates.verdict import Finding, Verdict, incomplete, judged
from winnow.graphs.reader import read_corpus
from winnow.graphs.shapes import read_shapes
from winnow.selection.expand import expand
from winnow.wording import amount


def check(engine: EngineDir, device: str | None) -> Verdict:
    """Ask registry and selection about every graph of the corpus and every shapes file that the manifest names."""
    problems = problems_of(engine)
    if not problems:
        return incomplete("coverage", f"no graph at {engine.corpus}, and coverage.shapes names no file")
    results = cover(engine.manifest, expand(engine.selection), problems)
    findings = [
        Finding(result.shape, f"{result.reason} (arch {result.arch})", result.place)
        for result in results
        if result.outcome == "GAP"
    ]
    if vacuous(results):
        findings = [Finding(results[0].shape, f"nothing of the corpus is served: {results[0].reason}")]
    summary = ", ".join(f"{count} {outcome}" for outcome, count in counts(results).items() if count)
    return judged("coverage", f"{amount(len(problems), 'problems')}: {summary}", findings)


def problems_of(engine: EngineDir) -> list[Asked]:
    """The graphs of the engine's corpus and the shapes of the files that its manifest names.

    Raises:
        InputError: a file or pattern that matches nothing, or graphs of a family that is not installed.
    """
    problems: list[Asked] = []
    for i, pattern in enumerate(engine.manifest.manifest.coverage.shapes):
        files = sorted(engine.root.glob(pattern))
        if not files:
            raise InputError(f'no file matches "{pattern}"', place=engine.manifest.place("coverage", "shapes", i))
        problems += (asked for file in files for asked in asked_shapes(engine.manifest, read_shapes(file)))
    if engine.corpus.is_dir():
        problems += asked_graphs(engine.manifest, read_corpus(engine.corpus))
    return problems
