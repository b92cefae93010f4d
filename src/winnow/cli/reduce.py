"""`winnow reduce`: measurements → a smaller selection, with the reason for everything that goes and stays."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from winnow.catalog.author import author
from winnow.catalog.cells import crossed
from winnow.catalog.comments import keep_comments
from winnow.catalog.engine_dir import EngineDir
from winnow.catalog.expand import expand
from winnow.catalog.selection import load_selection
from winnow.catalog.tree import read_catalog
from winnow.cli.console import print_json, table
from winnow.cli.generate import write_catalog
from winnow.cli.options import DEFAULT_MANIFEST, JsonOption, ManifestOption
from winnow.files import read_text, write_atomic
from winnow.identity import pretty_json
from winnow.reduce.evidence import load_evidence
from winnow.reduce.result import ReductionResult, reduce_evidence
from winnow.wording import amount


def command(
    manifest: ManifestOption = DEFAULT_MANIFEST,
    budget: Annotated[int | None, typer.Option(min=1, help="Most kernels to keep [default: the manifest's].")] = None,
    apply_rules: Annotated[
        bool, typer.Option("--apply-rules", help="Drop only what the knob rules drop; keep what has to be named.")
    ] = False,
    incumbents: Annotated[
        Path | None, typer.Option(help="A selection that ships today: preferred among equals.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", help="Directory of the reduced engine [default: build/reduced].")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    engine = EngineDir(manifest)
    target = output or engine.reduced
    result = reduce_engine(engine, target, budget=budget, apply_rules=apply_rules, incumbents=incumbents)
    if as_json:
        print_json(result.as_dict())
    else:
        _print(result, target)
    return 1 if result.refused else 0


def reduce_engine(
    engine: EngineDir,
    target: Path,
    *,
    budget: int | None = None,
    apply_rules: bool = False,
    incumbents: Path | None = None,
) -> ReductionResult:
    """Decide on the evidence beside the manifest; write the reduced selection, its catalog and the decisions."""
    manifest = engine.manifest.manifest
    evidence = load_evidence(engine.database, engine=manifest.engine.name, catalog=read_catalog(engine.catalog))
    reduction = manifest.reduction
    if budget is not None:
        reduction = reduction.model_copy(update={"budget": reduction.budget.model_copy(update={"variants": budget})})
    shipped = {kernel.name for kernel in expand(load_selection(incumbents))} if incumbents else set()
    measured = {kernel.name for kernel in evidence.kernels}
    result = reduce_evidence(evidence, reduction, manifest.match, incumbents=shipped & measured)
    gone = {dropped.kernel for dropped in result.dropped}
    if apply_rules:
        unfit = {dropped.kernel for dropped in result.dropped if dropped.why == "unfit"}
        gone = unfit | {name for rule in result.rules.rules for name in rule.drops}
    kernels = expand(engine.selection)
    cells = {name for record in manifest.enumerate.cells for point in crossed(record) for name in point}
    kept = [kernel for kernel in kernels if kernel.name not in gone]
    text = author(engine.selection.selection, kept, cells, policy_knobs=manifest.enumerate.accessors)
    text, _ = keep_comments(read_text(engine.selection_file), text, str(engine.selection_file))
    write_atomic(target / "selection.yaml", text)
    write_catalog(manifest, load_selection(target / "selection.yaml"), target / "catalog", engine.kept_ids)
    write_atomic(target / "decisions.json", pretty_json(result.as_dict()))
    return result


def _print(result: ReductionResult, target: Path) -> None:
    chosen = result.scores.chosen
    print(
        f"{target}: {len(result.kept)} of {len(result.kept) + len(result.dropped)} kernels kept on {result.arch}, "
        f"{len(result.unjudged)} of them not judged here"
    )
    rows = [
        ("geomean", f"{chosen.geomean:.4f}", f"({chosen.low:.4f} to {chosen.high:.4f})"),
        ("time-weighted", f"{chosen.time_weighted:.4f}", ""),
        ("worst graph", f"{chosen.worst:.4f}", chosen.worst_graph),
    ]
    print("retained performance, on rounds that did not choose")
    print(table(rows))
    print("kept")
    print(
        table(
            (kept.kernel, ", ".join(kept.roles) or f"needed by {amount(len(kept.needed_by), 'graphs')}")
            for kept in result.kept
        )
    )
    print("as rules")
    for rule in result.rules.rules:
        print(f"  {rule.text}")
    if result.rules.named:
        print(f"  and by name: {', '.join(result.rules.named)}")
    for name in result.outside:
        print(f"  refused: {name} leaves its epsilon under this budget")
    for problem in result.uncovered:
        print(f"  refused: {problem}")
