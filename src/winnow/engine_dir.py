"""Where each artefact of an engine lies: the manifest's directory is the engine's directory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from winnow.descriptors.ids import KeptIds, read_kept_ids
from winnow.errors import InputError, Place
from winnow.selection.document import LoadedSelection, load_selection
from winnow.settings.manifest import LoadedManifest, load_manifest


@dataclass(frozen=True)
class EngineDir:
    """One engine's directory, found by its manifest."""

    manifest_file: Path

    @property
    def root(self) -> Path:
        """The directory itself."""
        return self.manifest_file.parent

    @property
    def selection_file(self) -> Path:
        """The authored selection: `selection.yaml`, or `selection.yaml.gz` where only that is there."""
        plain = self.root / "selection.yaml"
        packed = plain.with_name("selection.yaml.gz")
        return packed if packed.is_file() and not plain.is_file() else plain

    @property
    def lock_file(self) -> Path:
        """The plan that a person approved."""
        return self.root / "plan.lock"

    @property
    def catalog(self) -> Path:
        """Generated descriptors."""
        return self.root / "catalog"

    @property
    def kept_ids_file(self) -> Path:
        """Ids that the catalog keeps from an earlier one; there is none where all ids are made from names."""
        return self.root / "kept-ids.json"

    @property
    def corpus(self) -> Path:
        """Graphs that users run."""
        return self.root / "corpus"

    @property
    def build(self) -> Path:
        """Everything that is made and not committed."""
        return self.root / "build"

    @property
    def archive(self) -> Path:
        """Packed shards, one an arch."""
        return self.build / "archive"

    @property
    def database(self) -> Path:
        """Measurements."""
        return self.build / "sweep.db"

    @property
    def reduced(self) -> Path:
        """The reduced engine: its selection, catalog and archive, and the decisions that led to it."""
        return self.build / "reduced"

    @property
    def cache(self) -> Path:
        """What only saves time; deleting it changes no result."""
        return self.root / ".winnow"

    @cached_property
    def manifest(self) -> LoadedManifest:
        """The manifest, read once."""
        if not self.manifest_file.exists():
            raise InputError(
                "no such file",
                place=Place(str(self.manifest_file)),
                cure="run this in an engine's directory, name its manifest with -m, or make one: `winnow init`",
            )
        return load_manifest(self.manifest_file)

    @cached_property
    def kept_ids(self) -> KeptIds:
        """The ids that the catalog keeps."""
        return read_kept_ids(self.kept_ids_file, self.manifest.manifest.engine.name)

    @cached_property
    def selection(self) -> LoadedSelection:
        """The selection, read once."""
        if not self.selection_file.exists():
            raise InputError("no such file", place=Place(str(self.selection_file)), cure="run `winnow enumerate` first")
        return load_selection(self.selection_file, self.manifest_file)
