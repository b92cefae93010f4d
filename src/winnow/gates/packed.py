"""One packed shard as gates look at it: opened once, with its descriptors as documents."""

from __future__ import annotations

from pathlib import Path

from winnow.archive.verify import Shard, open_shard
from winnow.descriptors.tree import Catalog, read_catalog
from winnow.gates.once import once
from winnow.runtime.load import Engine, engine_of


class Packed:
    """A folder of an archive. What is wrong with it is raised by whatever first needs it, as InputError."""

    def __init__(self, archive: Path, arch: str) -> None:
        self.archive = archive
        self.arch = arch

    @property
    def root(self) -> Path:
        """The shard's folder."""
        return self.archive / self.arch

    @once
    def shard(self) -> Shard:
        """The shard, once every digest in it was compared."""
        return open_shard(self.archive, self.arch)

    @once
    def catalog(self) -> Catalog:
        """The shard's descriptors, whether or not their digests are right."""
        return read_catalog(self.root)

    @once
    def engine(self) -> Engine:
        """The shard as an engine that matches and ranks."""
        return engine_of(self.shard)
