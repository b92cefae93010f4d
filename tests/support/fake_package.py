"""A package on disk with its metadata, as if it were installed."""

from __future__ import annotations

from pathlib import Path


def package(root: Path, name: str, entries: str, **modules: str) -> None:
    """Write version 2.0 of a package below `root`: its entry points and the texts of its modules."""
    info = root / f"{name}-2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text(entries)
    for module, text in modules.items():
        (root / f"{module}.py").write_text(text)
