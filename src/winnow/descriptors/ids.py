"""Ids of descriptors: made from names, so that they never change, or kept from a catalog that is already in use."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from winnow.descriptors.documents import Kdp, Ukd
from winnow.descriptors.tree import Catalog
from winnow.errors import InputError, Place, Refused, nearest
from winnow.identity import descriptor_id, pretty_json
from winnow.strict.json_reader import load_json
from winnow.strict.schema import StrictModel, validate
from winnow.wording import amount

Kind = Literal["kmd", "ued", "umd", "udd", "uhd", "kdp", "ukd"]
_ONLY = ""
"""Key of a document of which an engine has one."""


@dataclass(frozen=True)
class KeptIds:
    """Ids that stay what they are, by document type and by what the document is known by."""

    ids: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def mint(self, engine: str, kind: Kind, name: str, key: str | None = None) -> str:
        """The id of a document: the one that was kept under `key` (by default its name), else UUIDv5 of its name."""
        kept = self.ids.get(kind, {}).get(name if key is None else key)
        return descriptor_id(engine, kind, name) if kept is None else kept


FRESH = KeptIds()
"""Every id is made from its name."""


def keep_ids(live: Catalog) -> KeptIds:
    """The ids of a catalog that is in use: kernels and packs by name, matchers and the like by their symbol."""
    ids: dict[str, dict[str, str]] = {}
    for kind, key, document in _keyed(live):
        ids.setdefault(kind, {})[key] = document.id
    return KeptIds(ids)


def _keyed(catalog: Catalog) -> Iterator[tuple[Kind, str, Any]]:
    yield "kmd", _ONLY, catalog.kmd[1]
    yield "ued", _ONLY, catalog.ued[1]
    for _, umd in catalog.umds:
        yield "umd", umd.match_symbol, umd
    for _, udd in catalog.udds:
        yield "udd", udd.dispatch_symbol, udd
    for _, uhd in catalog.uhds:
        yield "uhd", uhd.name if uhd.native is None else uhd.native.symbol, uhd
    for _, kdp in catalog.kdps:
        yield "kdp", kdp.name, kdp
    for _, kernel in catalog.kernels():
        yield "ukd", kernel.name, kernel


class _KeptFile(StrictModel):
    engine: str
    ids: dict[Kind, dict[str, str]]


def kept_text(engine: str, catalog: Catalog) -> str | None:
    """The text of a file that keeps those ids of `catalog` that are not made from its names; None if all are."""
    ids: dict[str, dict[str, str]] = {}
    for kind, key, document in _keyed(catalog):
        if document.id != descriptor_id(engine, kind, document.name):
            ids.setdefault(kind, {})[key] = document.id
    return pretty_json({"engine": engine, "ids": ids}) if ids else None


def read_kept_ids(path: Path, engine: str) -> KeptIds:
    """The ids that a file keeps; none where the file is missing.

    Raises:
        InputError: malformed, or another engine's.
    """
    if not path.is_file():
        return FRESH
    document = load_json(path)
    file = validate(_KeptFile, document)
    if file.engine != engine:
        raise InputError(f'keeps the ids of "{file.engine}", not of "{engine}"', place=document.place("engine"))
    return KeptIds({kind: dict(ids) for kind, ids in file.ids.items()})


def check_addition(live: Catalog, new: Catalog, allowed: Collection[str], place: Place) -> None:
    """Refuse a new catalog that is not the live one and more. `place` is where the live one stands.

    Raises:
        InputError: another engine, or a removal is allowed that does not happen.
        Refused: a kernel is gone and `allowed` does not name it, or is another kernel than it was.
    """
    if live.ued[1].name != new.ued[1].name:
        raise InputError(f'holds the engine "{live.ued[1].name}", not "{new.ued[1].name}"', place=place)
    ours = {kernel.name: (kdp, kernel) for kdp, kernel in new.kernels()}
    theirs = {kernel.name: (kdp, kernel) for kdp, kernel in live.kernels()}
    removed = [name for name in theirs if name not in ours]
    for name in allowed:
        if name not in removed:
            raise InputError(f'"{name}" is not removed', place=place, cure=nearest(name, removed))
    refused = [name for name in removed if name not in allowed]
    if refused:
        shown = ", ".join(refused[:5]) + (f" and {len(refused) - 5} more" if len(refused) > 5 else "")
        raise Refused(
            f"{amount(len(refused), 'kernels')} of the live catalog would be gone: {shown}",
            place=place,
            cure="put them back into the selection, or say --allow-removal for each of them",
        )
    for name in theirs:
        changed = _change(live, *theirs[name], new, *ours[name]) if name in ours else None
        if changed is not None:
            raise Refused(
                f"{name} is another kernel than the one of that name in the live catalog: {changed}",
                place=place,
                cure="give the new kernel a name of its own: what was measured of the old one is kept under its id",
            )


def _change(live: Catalog, old_pack: Kdp, old: Ukd, new: Catalog, new_pack: Kdp, now: Ukd) -> str | None:
    packed = old.kernel_source.get("kind") == "kpack"
    if not packed and old.kernel_source != now.kernel_source:
        return "its kernel source differs"
    if not packed and old_pack.arch_of(old) != new_pack.arch_of(now):
        return f"its arch is {new_pack.arch_of(now)}, not {old_pack.arch_of(old)}"
    then, today = live.completed_metadata(old), new.completed_metadata(now)
    for name in then:
        if name in today and then[name] != today[name]:
            return f"its {name} is {today[name]!r}, not {then[name]!r}"
    return None
