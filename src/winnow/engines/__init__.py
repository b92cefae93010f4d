"""The built-in engines, as package data: a manifest, an authored selection and a corpus each."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from winnow.errors import InputError, Place, nearest
from winnow.files import write_atomic


def engine_names() -> list[str]:
    """Names of the built-in engines."""
    return sorted(entry.name for entry in files(__name__).iterdir() if (entry / "engine.yaml").is_file())


def copy_engine(name: str, target: Path) -> int:
    """Copy a built-in engine into a directory that is new, empty, or an earlier copy of it; returns the file count.

    Raises:
        InputError: no such engine, or the directory holds something else.
    """
    if name not in engine_names():
        raise InputError(f'no built-in engine is called "{name}"', cure=nearest(name, engine_names()))
    with as_file(files(__name__) / name) as source:
        _check_target(source, target)
        copied = [path for path in sorted(source.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
        for path in copied:
            write_atomic(target / path.relative_to(source), path.read_bytes())
    return len(copied)


def _check_target(source: Path, target: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError("is not a directory", place=Place(str(target)))
    manifest = target / "engine.yaml"
    if not any(target.iterdir()):
        return
    if not manifest.is_file() or manifest.read_bytes() != (source / "engine.yaml").read_bytes():
        raise InputError(
            "holds something else already",
            place=Place(str(target)),
            cure="name a new directory; an engine that was changed is never written over",
        )
