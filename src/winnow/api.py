"""The Python API of an engine directory: each method is a step of the pipeline, as the command line runs it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, overload

from winnow.engine_dir import EngineDir
from winnow.errors import InputError, Place
from winnow.settings.manifest import MANIFEST_FILE
from winnow.steps.progress import Progress, silent

if TYPE_CHECKING:
    from winnow.descriptors.diff import Difference
    from winnow.graphs.model import Graph
    from winnow.pack.shard import ShardReport
    from winnow.reduce.result import ReductionResult
    from winnow.steps.check import Checked
    from winnow.steps.coverage import CoverageResult
    from winnow.steps.enumerate import Enumerated, Space
    from winnow.steps.generate import Generated
    from winnow.steps.plan import Planned
    from winnow.steps.report import Reported
    from winnow.steps.run import GraphRun
    from winnow.sweep.session import SweepResult

AnyPath = str | Path
T = TypeVar("T")


@dataclass(frozen=True)
class Project:
    """An engine directory. Methods read what is on disk when they are called, write what their command writes, and
    return what it prints with `--json`, as a value. They raise `winnow.errors.WinnowError` where a command would end
    with an error; a verdict of "no" is a value, except where a step cannot go on.
    """

    manifest_file: Path

    @property
    def root(self) -> Path:
        """The directory."""
        return self.manifest_file.parent

    @property
    def engine(self) -> EngineDir:
        """Where each artefact lies, and the manifest and the selection as they are now."""
        return EngineDir(self.manifest_file)

    def plan(self, *, approve: str | None = None) -> Planned:
        """Exact counts of the space, and what the manifest selects of it (`winnow plan`).

        `approve` is the reason for approving it: then `plan.lock` is written, unless the budget refuses.
        """
        from winnow.steps.plan import approve_plan, plan_engine

        if approve is not None and not isinstance(approve, str):
            raise InputError(f"approve is {approve!r}, not a reason in words")
        planned = plan_engine(self.engine, approve=approve is not None, reason=approve)
        approve_plan(planned)
        return planned

    def enumerate(self, *, space: Space | None = None, output: AnyPath | None = None) -> Enumerated:
        """Registry → selection (`winnow enumerate`). Where the budget says no, raises Refused and writes nothing."""
        from winnow.steps.enumerate import enumerate_engine, write_enumeration

        engine = self.engine
        enumeration = enumerate_engine(engine, space=space)
        if enumeration.over is not None:
            raise enumeration.over
        return write_enumeration(engine, enumeration, output=_path(output))

    def coverage(
        self, *, shapes: Sequence[AnyPath] = (), corpora: Sequence[AnyPath] = (), arches: Sequence[str] = ()
    ) -> CoverageResult:
        """What the selection serves, and what only the registry would (`winnow coverage`)."""
        from winnow.steps.coverage import cover_engine

        files = [_path(file) for file in _several("shapes", shapes)]
        folders = [_path(folder) for folder in _several("corpora", corpora)]
        return cover_engine(self.engine, shapes=files, corpora=folders, arches=_several("arches", arches))

    def generate(
        self,
        *,
        selection: AnyPath | None = None,
        output: AnyPath | None = None,
        keep_ids_of: AnyPath | None = None,
        allow_removal: Collection[str] = (),
        native: AnyPath | None = None,
    ) -> Generated:
        """Selection → descriptors (`winnow generate`)."""
        from winnow.steps.generate import draft_catalog, write_draft

        draft = draft_catalog(
            self.engine,
            selection=_path(selection),
            output=_path(output),
            keep_ids_of=_path(keep_ids_of),
            allow_removal=allow_removal,
        )
        return write_draft(draft, native=_path(native))

    def pack(
        self,
        *arches: str,
        catalog: AnyPath | None = None,
        output: AnyPath | None = None,
        jobs: int | None = None,
        executor: str = "local",
        progress: Progress = silent,
    ) -> tuple[ShardReport, ...]:
        """Descriptors → one shard an architecture (`winnow pack`), by default for every arch that the catalog names."""
        from winnow.steps.pack import pack_engine

        _check_number("jobs", jobs, 1, whole=True)
        return pack_engine(
            self.engine,
            arches=arches,
            catalog=_path(catalog),
            output=_path(output),
            jobs=jobs,
            executor=executor,
            progress=progress,
        )

    def run(
        self, graph: AnyPath, *, archive: AnyPath | None = None, device: str | None = None, seconds: float = 0.2
    ) -> GraphRun:
        """Run one graph file from the packed tree: which kernel, its time, its verdict (`winnow run`)."""
        from winnow.steps.run import run_graph

        return run_graph(_path(graph), _path(archive) or self.engine.archive, device=device, seconds=seconds)

    def sweep(
        self,
        *,
        device: str | None = None,
        archive: AnyPath | None = None,
        corpus: AnyPath | None = None,
        rounds: int | None = None,
        budget: float | None = None,
        progress: Progress = silent,
    ) -> SweepResult:
        """Measure every packed kernel on every graph (`winnow sweep`); a second call resumes.

        After `budget` seconds no round is started.
        """
        from winnow.steps.sweep import sweep_engine

        _check_number("rounds", rounds, 2, whole=True)
        _check_number("budget", budget, 1)
        return sweep_engine(
            self.engine,
            device=device,
            archive=_path(archive),
            corpus=_path(corpus),
            rounds=rounds,
            budget=budget,
            progress=progress,
        )

    def reduce(
        self,
        *,
        budget: int | None = None,
        apply_rules: bool = False,
        incumbents: AnyPath | None = None,
        evidence: AnyPath | None = None,
        form: str | None = None,
        output: AnyPath | None = None,
    ) -> ReductionResult:
        """Measurements → the smaller selection, with a reason for each kernel (`winnow reduce`)."""
        from winnow.steps.reduce import reduce_engine

        _check_number("budget", budget, 1, whole=True)
        return reduce_engine(
            self.engine,
            output=_path(output),
            budget=budget,
            apply_rules=apply_rules,
            incumbents=_path(incumbents),
            evidence_file=_path(evidence),
            form=form,
        )

    def check(
        self,
        *gates: str,
        device: str | None = None,
        everything: bool = False,
        mode: Literal["full", "structural"] = "full",
        progress: Progress = silent,
    ) -> Checked:
        """The verdicts of these gates, by default all (`winnow check`)."""
        from winnow.steps.check import check_engine

        return check_engine(self.engine, gates, device=device, everything=everything, mode=mode, progress=progress)

    def report(
        self, *, device: str | None = None, output: AnyPath | None = None, progress: Progress = silent
    ) -> Reported:
        """One HTML file that shows it all (`winnow report`)."""
        from winnow.steps.report import report_engine

        return report_engine(self.engine, device=device, output=_path(output), progress=progress)


def open_project(directory: AnyPath) -> Project:
    """The engine directory at `directory`, or the one of a manifest's file.

    Raises:
        InputError: the manifest is missing.
    """
    path = _path(directory)
    file = path / MANIFEST_FILE if path.is_dir() else path
    if not file.is_file():
        raise InputError(
            "no manifest here",
            place=Place(str(file)),
            cure='name an engine directory, or make one: winnow.init(directory, "gemm_cpu")',
        )
    return Project(file.absolute())


def init_project(directory: AnyPath, source: str = "gemm_cpu") -> Project:
    """A new engine directory, copied from a built-in engine (`winnow init`).

    Raises:
        InputError: no such engine, or the directory holds something else.
    """
    from winnow.steps.init import init_engine

    init_engine(_path(directory), source)
    return open_project(directory)


def read_graph(file: AnyPath) -> Graph:
    """The graph of one file (hipDNN's JSON). Raises InputError where it is unreadable or not a graph."""
    from winnow.graphs.reader import read_graph as read

    return read(_path(file))


def diff(a: AnyPath, b: AnyPath, *, by: Literal["name", "metadata"] = "name") -> Difference:
    """What differs between two catalogs, selections or packed trees (`winnow diff`)."""
    from winnow.steps.diff import diff_sides

    return diff_sides(_path(a), _path(b), by=by)


@overload
def _path(value: None) -> None: ...
@overload
def _path(value: AnyPath) -> Path: ...
def _path(value: AnyPath | None) -> Path | None:
    if value is None:
        return None
    if "\0" in str(value):
        raise InputError(f"{str(value)!r} is not a path: no file's name holds a NUL character")
    return Path(value)


def _check_number(name: str, value: float | None, least: int, *, whole: bool = False) -> None:
    """Raises InputError for what is not a number from `least` up, as the command line refuses it."""
    fits = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if value is not None and not (fits and least <= value < math.inf):
        raise InputError(f"{name} is {value!r}, not a {'whole ' * whole}number from {least} up")


def _several(name: str, given: Sequence[T]) -> Sequence[T]:
    """What was given as several; one text would be taken for its letters."""
    if isinstance(given, str | Path):
        raise InputError(f"{name} are several, one text is none of them", cure=f"give a list: {name}=[{str(given)!r}]")
    return given
