"""One look at an engine's directory: each artefact is read once, however many gates ask for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from winnow.archive.verify import shards_of
from winnow.coverage.asked import Asked, asked_graphs, asked_shapes
from winnow.descriptors.tree import Catalog, Tree, catalog_of, tree_of
from winnow.devices.device import Device
from winnow.devices.find import open_device, runtime_for
from winnow.engine_dir import EngineDir
from winnow.errors import InputError
from winnow.evidence.evidence import Evidence
from winnow.families.adapter import Declined, Problem
from winnow.families.find import find_family
from winnow.files import Folder
from winnow.gates.once import once
from winnow.gates.packed import Packed
from winnow.graphs.model import Graph
from winnow.graphs.reader import graph_files, read_corpus
from winnow.graphs.shapes import read_shapes
from winnow.selection.cells import CellWalk, load_registry
from winnow.selection.expand import expand
from winnow.selection.kernel import Kernel
from winnow.selection.lock import Lock, read_lock
from winnow.settings.manifest import LoadedManifest, Manifest
from winnow.sweep.evidence import load_evidence

Mode = Literal["full", "structural"]
Progress = Callable[[int, int, str], None]
"""(done, total, gate), for gates that take long."""


def silent(done: int, total: int, gate: str) -> None:
    """Progress that nobody watches."""


class Inspection:
    """An engine's artefacts, each read when a gate first asks for it. What cannot be read is an InputError each time.

    `device` is the runtime of gates that run kernels, None the one that the archive is for. `everything` makes gates
    judge all of what they judge a sample of. `mode` is that of gate `agreement`: compare records, or look for them.
    """

    def __init__(
        self,
        engine: EngineDir,
        *,
        device: str | None = None,
        everything: bool = False,
        mode: Mode = "full",
        progress: Progress = silent,
    ) -> None:
        self.engine = engine
        self.device = device
        self.everything = everything
        self.mode = mode
        self.progress = progress
        self._opened: ExitStack | None = None
        self._device: Device | None = None

    @property
    def runtime(self) -> str:
        """The runtime of gates that run kernels: the one that was named, else the one that the archive is for."""
        return self.device or runtime_for(shards_of(self.engine.archive))

    def open_device(self) -> Device:
        """The device of gates that run kernels; `run_gates` closes it when the gate that opened it ends.

        Raises:
            InputError: no such runtime is installed, or this machine has no such device.
        """
        if self._device is None:
            opened = ExitStack()
            self._device = opened.enter_context(
                open_device(self.runtime, timeout_s=self.manifest.sweep.timeout_seconds)
            )
            self._opened = opened
        return self._device

    def close_device(self) -> None:
        """Close the device if a gate opened it; the next gate that asks opens it anew."""
        opened, self._opened, self._device = self._opened, None, None
        if opened is not None:
            opened.close()

    @once
    def loaded(self) -> LoadedManifest:
        """The manifest with places for errors."""
        return self.engine.manifest

    @property
    def manifest(self) -> Manifest:
        """The manifest."""
        return self.loaded.manifest

    @once
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels of the selection."""
        return expand(self.engine.selection)

    @once
    def lock(self) -> Lock | None:
        """The plan that a person approved; None where there is none."""
        return read_lock(self.engine.lock_file)

    @once
    def walk(self) -> CellWalk:
        """The registry that the manifest names, and the manifest's cells."""
        return CellWalk(self.loaded, load_registry(self.loaded))

    @once
    def committed_files(self) -> Folder:
        """The files of the committed catalog."""
        return Folder(self.engine.catalog)

    @once
    def committed_tree(self) -> Tree:
        """The descriptors of the committed catalog; references may lead nowhere."""
        return tree_of(self.engine.catalog, self.committed_files)

    @once
    def committed(self) -> Catalog:
        """The committed catalog."""
        return catalog_of(self.committed_tree)

    @once
    def reduced_files(self) -> Folder:
        """The files of the reduced catalog."""
        return Folder(self.engine.reduced / "catalog")

    @once
    def reduced_tree(self) -> Tree | None:
        """The descriptors of the reduced catalog; references may lead nowhere. None where there is none."""
        files = self.reduced_files
        return tree_of(files.root, files) if files.root.is_dir() else None

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The descriptors of the committed catalog, and of the reduced one where there is one."""
        reduced = self.reduced_tree
        return (self.committed_tree, *([] if reduced is None else [reduced]))

    @once
    def catalogs(self) -> tuple[tuple[Path, Catalog], ...]:
        """Each catalog with its directory: the committed one, and the reduced one where there is one."""
        committed, *reduced = self.trees
        return ((committed.root, self.committed), *((tree.root, catalog_of(tree)) for tree in reduced))

    @property
    def archives(self) -> tuple[Path, ...]:
        """Directories of packed trees: the full one, then the reduced one."""
        return (self.engine.archive, self.engine.reduced / "archive")

    @once
    def packed(self) -> tuple[Packed, ...]:
        """Every packed shard, of the full archive and of the reduced one."""
        return tuple(Packed(archive, arch) for archive in self.archives for arch in shards_of(archive))

    def shard(self, archive: Path, arch: str) -> Packed | None:
        """The packed shard of an arch in one of the archives; None where there is none."""
        return next((one for one in self.packed if (one.archive, one.arch) == (archive, arch)), None)

    @property
    def has_corpus(self) -> bool:
        """Whether there is any graph beside the manifest."""
        return bool(graph_files(self.engine.corpus))

    @once
    def graphs(self) -> tuple[Graph, ...]:
        """The engine's own graphs; none where it has no corpus."""
        return read_corpus(self.engine.corpus) if self.has_corpus else ()

    @once
    def problems(self) -> tuple[Problem, ...]:
        """The problems that the graphs of the corpus pose to the family; without those that it declines."""
        adapter = find_family(self.manifest.family, self.loaded.place("family"))
        found: list[Problem] = []
        for graph in self.graphs:
            try:
                found.append(adapter.problem(graph))
            except Declined:
                continue
        return tuple(found)

    @once
    def asked(self) -> tuple[Asked, ...]:
        """The graphs of the corpus and the shapes of the files that the manifest names, on their way to a registry.

        Raises:
            InputError: a pattern that matches no file, or graphs of a family that is not installed.
        """
        found: list[Asked] = []
        for i, pattern in enumerate(self.manifest.coverage.shapes):
            files = sorted(self.engine.root.glob(pattern))
            if not files:
                raise InputError(f'no file matches "{pattern}"', place=self.loaded.place("coverage", "shapes", i))
            found += (asked for file in files for asked in asked_shapes(self.walk, read_shapes(file)))
        if self.graphs:
            found += asked_graphs(self.loaded, self.graphs)
        return tuple(found)

    @once
    def evidence(self) -> Evidence:
        """What the last finished sweep of the committed catalog proved. Raises Incomplete where there is none."""
        return load_evidence(self.engine.database, engine=self.manifest.engine.name, catalog=self.committed)
