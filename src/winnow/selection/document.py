"""The selection: the file that a person authors and reviews, and the schema of its keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from winnow.errors import InputError
from winnow.files import write_atomic
from winnow.identity import gzipped
from winnow.settings.fields import Scalar
from winnow.settings.header import Header, header_problem
from winnow.settings.manifest import MANIFEST_FILE, load_manifest
from winnow.strict.document import Document
from winnow.strict.schema import StrictModel, validate
from winnow.strict.yaml_reader import load_yaml, parse_yaml
from winnow.targets.names import arch_problem

SHAPE_CONTROLS = ("knobs", "resolved", "ordinal")
"""Keys of a shape that are not spec fields."""
ARM_CONTROLS = ("tag", "ordinal_offset", "metadata")
"""Keys of an arm (one entry of a knob set) that are not spec fields."""

Record = dict[str, Any]


class VariantGroup(StrictModel):
    """Shapes × named knob sets that share a name template and spec defaults."""

    name: str
    metadata: list[str] | None = None
    vocabulary: dict[str, dict[str, Scalar]] = Field(default_factory=dict)
    spec_order: list[str] | None = None
    spec_defaults: Record = Field(default_factory=dict)
    policy_knobs: list[str] = Field(default_factory=list)
    knob_sets: dict[str, list[Record]] = Field(default_factory=dict)
    shapes: list[Record]


class PlainKernel(StrictModel):
    """One kernel written out."""

    name: str
    kernel_source: Record
    metadata: Record
    priority: int = 0
    arch: list[str] | None = None


class Pack(StrictModel):
    """One kernel pack: its arches, its kernels' common source, and the kernels in one or more of the forms."""

    name: str
    arch: list[str]
    discriminator: str | None = None
    kernel_defaults: Record = Field(default_factory=dict)
    axes: dict[str, list[Scalar]] = Field(default_factory=dict)
    kernel_template: PlainKernel | None = None
    variants: list[VariantGroup] = Field(default_factory=list)
    kernels: list[PlainKernel] = Field(default_factory=list)


class Selection(Header):
    """The engine's header and its packs."""

    authored_subpath: str | None = None
    packs: list[Pack]


@dataclass(frozen=True)
class LoadedSelection:
    """A selection with the document that it came from. `own_header` is whether the file states its engine itself."""

    selection: Selection
    document: Document
    own_header: bool = True


def load_selection(path: Path, manifest: Path | None = None) -> LoadedSelection:
    """Read and check a selection (`.yaml` or `.yaml.gz`).

    A file that states nothing of its engine has the header of `manifest`, by default of the one beside it.

    Raises:
        InputError: unreadable, malformed, an unknown or duplicate key, an inconsistent header, or no header at all.
    """
    document = load_yaml(path)
    beside = manifest or path.with_name(MANIFEST_FILE)
    if states_header(document) or not beside.is_file():
        return _checked(document, None)
    return _checked(document, load_manifest(beside).manifest.header())


def parse_selection(text: str, file: str, header: Header | None = None) -> LoadedSelection:
    """`load_selection` for text that is already in memory; `file` is the name that errors show."""
    return _checked(parse_yaml(text, file), header)


def write_selection(path: Path, text: str) -> None:
    """Write a selection's text, compressed where the name ends in `.gz`: the same bytes for the same text."""
    write_atomic(path, gzipped(text.encode()) if path.suffix == ".gz" else text)


def states_header(document: Document) -> bool:
    """Whether a selection's document has any key of the header."""
    return not isinstance(document.data, dict) or any(key in document.data for key in Header.model_fields)


def _checked(document: Document, header: Header | None) -> LoadedSelection:
    own = states_header(document)
    if not own and header is None:
        raise InputError(
            "states nothing of its engine, and no manifest is beside it",
            place=document.place(),
            cure=f"keep the selection beside its {MANIFEST_FILE}, or state engine, kmd_fields and specialization in it",
        )
    if not own and header is not None:
        stated = header.model_dump(exclude_none=True)
        document = Document(document.file, {**stated, **document.data}, document.lines)
    selection = validate(Selection, document)
    problem = header_problem(selection)
    if problem is not None:
        raise InputError(problem[1], place=document.place(*problem[0]))
    for i, pack in enumerate(selection.packs):
        for j, arch in enumerate(pack.arch):
            problem_of_name = arch_problem(arch)
            if problem_of_name is None and arch in pack.arch[:j]:
                problem_of_name = f'arch "{arch}" is listed twice'
            if problem_of_name is not None:
                raise InputError(problem_of_name, place=document.place("packs", i, "arch", j))
    names = [pack.name for pack in selection.packs]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InputError(f'two packs are called "{name}"', place=document.place("packs", i, "name"))
    return LoadedSelection(selection, document, own)
