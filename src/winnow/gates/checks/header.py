"""Gate `header`: the selection and the manifest describe the same engine."""

from __future__ import annotations

from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.verdict import Finding, Verdict, judged, passed
from winnow.settings.header import Header


def check(inspection: Inspection) -> Verdict:
    """Each key that both files have must be equal in both."""
    loaded = inspection.engine.selection
    if not loaded.own_header:
        return passed("header", "the selection leaves its header to the manifest")
    manifest, selection = inspection.manifest, loaded.selection
    findings = [
        Finding(
            key,
            f"the selection says {_shown(getattr(selection, key))}, the manifest {_shown(getattr(manifest, key))}",
            loaded.document.place(key),
        )
        for key in Header.model_fields
        if getattr(manifest, key) != getattr(selection, key)
    ]
    return judged("header", f"{len(Header.model_fields)} shared keys", findings)


def _shown(value: object) -> str:
    dump = getattr(value, "model_dump", None)
    text = str(dump(exclude_none=True) if dump is not None else value)
    return text if len(text) <= 100 else text[:97] + "..."


GATE = Gate("header", (), check, order=10)
