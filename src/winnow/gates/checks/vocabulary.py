"""Gate `vocabulary`: every text in the metadata is one that graphs of the family really have in that place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from winnow.errors import nearest
from winnow.families.find import find_family, installed_families
from winnow.gates.gate import Gate
from winnow.gates.inspection import Inspection
from winnow.gates.verdict import Finding, Verdict, incomplete, judged
from winnow.wording import amount

Words = Mapping[str, frozenset[str]]
"""For each field of a problem that is text, every text that it can be."""


def check(inspection: Inspection) -> Verdict:
    """Compare with the family's own words, not with the map that made the spellings: the map may be what is wrong."""
    manifest = inspection.manifest
    if manifest.family not in installed_families():
        reason = f'family "{manifest.family}" is not installed, so nothing says how its graphs spell things'
        return incomplete("vocabulary", reason)
    words = find_family(manifest.family).vocabulary
    fields = _compared_texts(inspection)
    findings = [*_of_map(inspection, fields, words), *_of_kernels(inspection, fields, words)]
    return judged(
        "vocabulary", f"{amount(len(fields), 'fields')} of text: {', '.join(fields.values()) or 'none'}", findings
    )


def _compared_texts(inspection: Inspection) -> dict[str, str]:
    """Metadata fields of text that the engine compares, with the problem's field that each is compared with."""
    manifest = inspection.manifest
    texts = {field.name for field in manifest.kmd_fields if field.type == "string"}
    compared = {rule.against(name): name for name, rule in manifest.match.items() if rule.operator != "any"}
    return {field: name for field, name in compared.items() if field in texts}


def _of_map(inspection: Inspection, fields: Mapping[str, str], words: Words) -> Iterator[Finding]:
    for field, mapped in inspection.manifest.specialization.vocabulary.items():
        for own, spelling in mapped.items():
            reason = _stranger(field, spelling, fields, words)
            if reason is not None:
                place = inspection.loaded.place("specialization", "vocabulary", field, own)
                yield Finding(f"{field}={own}", f"is spelled {reason}", place)


def _of_kernels(inspection: Inspection, fields: Mapping[str, str], words: Words) -> Iterator[Finding]:
    defaults = {field.name: field.default_value for field in inspection.manifest.kmd_fields}
    for kernel in inspection.kernels:
        for field in fields:
            reason = _stranger(field, kernel.metadata.get(field, defaults[field]), fields, words)
            if reason is not None:
                yield Finding(kernel.name, f"{field} is {reason}", kernel.place)


def _stranger(field: str, value: object, fields: Mapping[str, str], words: Words) -> str | None:
    """Why no graph can have this value in this field, or None where one can, or where nothing compares the field."""
    if field not in fields:
        return None
    known = words.get(fields[field])
    if known is None:
        return f'"{value}", and the family does not say how graphs spell {fields[field]}'
    return None if value in known else f'"{value}", which no graph says; {nearest(str(value), known)}'


GATE = Gate("vocabulary", (), check, order=40)
