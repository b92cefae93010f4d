"""Measurements → the reduced engine: its selection, its catalog and the decisions that led to it."""

from __future__ import annotations

from pathlib import Path

from winnow.descriptors.tree import read_catalog
from winnow.engine_dir import EngineDir
from winnow.evidence.evidence import Evidence
from winnow.files import MOMENT_S, Kind, carry_over, locked, read_text, staged_tree, write_atomic
from winnow.identity import pretty_json
from winnow.importers.importer import read_imported
from winnow.reduce.result import ReductionResult, reduce_evidence
from winnow.selection.author import author
from winnow.selection.cells import crossed
from winnow.selection.comments import keep_comments
from winnow.selection.document import load_selection, parse_selection
from winnow.selection.expand import expand
from winnow.steps.generate import write_catalog
from winnow.sweep.evidence import check_catalog, load_evidence

_REDUCED = Kind("a reduced engine", ("decisions.json",))


def reduce_engine(
    engine: EngineDir,
    *,
    output: Path | None = None,
    budget: int | None = None,
    apply_rules: bool = False,
    incumbents: Path | None = None,
    evidence_file: Path | None = None,
    form: str | None = None,
) -> ReductionResult:
    """Decide on the evidence of the engine's sweep; write the reduced selection, its catalog and the decisions.

    They go to `output`, by default `build/reduced`. `budget` is the most kernels to keep; with `apply_rules` only what
    the knob rules drop goes; `incumbents` is a selection that ships today, preferred among equals. `evidence_file` is
    evidence from elsewhere, read by the importer `form` or the one for its suffix.

    Raises:
        Incomplete: no sweep of this catalog has finished, or the evidence is about another one.
        InputError: the evidence or a threshold cannot be used, or another process writes to `output`.
        Refused: no graph is served by a kernel that passed, or the budget is too small to serve every graph.
    """
    target = output or engine.reduced
    manifest = engine.manifest.manifest
    evidence = _evidence(engine, evidence_file, form)
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
    with locked(target, _REDUCED, wait_s=MOMENT_S) as lock, staged_tree(lock) as staging:
        write_atomic(staging / "selection.yaml", text)
        selection = parse_selection(text, str(target / "selection.yaml"))
        write_catalog(manifest, selection, staging / "catalog", engine.kept_ids)
        write_atomic(staging / "decisions.json", pretty_json(result.as_dict()))
        carry_over(lock, staging)  # An archive of the former selection stays: the gates say that it is stale.
    return result


def _evidence(engine: EngineDir, file: Path | None, form: str | None) -> Evidence:
    """What the engine's own sweep proved, or what a file says that somebody else measured."""
    catalog = read_catalog(engine.catalog)
    if file is None:
        return load_evidence(engine.database, engine=engine.manifest.manifest.engine.name, catalog=catalog)
    found = read_imported("evidence", file, form, Evidence)
    check_catalog(found, catalog, file)
    return found
