"""Verdicts in the forms that people, scripts and CI systems read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from winnow.errors import Place
from winnow.gates.verdict import Finding, Verdict

_SHOWN = 20
_NOT_RUN = ("incomplete", "unusable")
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(verdicts: Sequence[Verdict]) -> str:
    """One line a gate, and its findings below it."""
    width = max(len(verdict.gate) for verdict in verdicts)
    return "\n".join(
        line
        for verdict in verdicts
        for line in (
            f"  {verdict.gate.ljust(width)}  {verdict.state.ljust(10)}  {verdict.summary}",
            *findings_text(verdict.findings),
        )
    )


def findings_text(findings: Sequence[Finding]) -> list[str]:
    """The first findings, a line each, and how many more there are."""
    lines = [
        f"    {finding.subject}: {finding.message}" + ("" if finding.place is None else f"  [{finding.place}]")
        for finding in findings[:_SHOWN]
    ]
    more = len(findings) - _SHOWN
    return [*lines, f"    … and {more} more (--json shows all)"] if more > 0 else lines


def as_json(verdicts: Sequence[Verdict]) -> str:
    """One JSON document."""
    return json.dumps([verdict.as_dict() for verdict in verdicts], indent=2, allow_nan=False)


def junit(verdicts: Sequence[Verdict]) -> str:
    """JUnit XML: a test case a gate. A gate that could not run is an error, for it has not passed."""
    suite = ElementTree.Element(
        "testsuite",
        name="winnow check",
        tests=str(len(verdicts)),
        failures=str(sum(verdict.state == "refused" for verdict in verdicts)),
        errors=str(sum(verdict.state in _NOT_RUN for verdict in verdicts)),
    )
    for verdict in verdicts:
        case = ElementTree.SubElement(suite, "testcase", classname="winnow", name=verdict.gate)
        if verdict.state != "passed":
            kind = "failure" if verdict.state == "refused" else "error"
            element = ElementTree.SubElement(case, kind, type=verdict.state, message=_clean(verdict.summary))
            element.text = _clean("\n".join(_sentence(finding) for finding in verdict.findings))
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode")


def _clean(words: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", words)


def _sentence(finding: Finding) -> str:
    where = "" if finding.place is None else f"{finding.place}: "
    return f"{where}{finding.subject}: {finding.message}"


def github(verdicts: Sequence[Verdict]) -> str:
    """Workflow commands that annotate the lines of the files that a gate refuses."""
    lines: list[str] = []
    for verdict in verdicts:
        lines.append(f"{verdict.gate}: {verdict.state}: {verdict.summary}")
        if verdict.state in _NOT_RUN:
            lines.append(_annotation(verdict.gate, None, f"could not run: {verdict.summary}"))
        lines += (
            _annotation(verdict.gate, finding.place, f"{finding.subject}: {finding.message}")
            for finding in verdict.findings
        )
    return "\n".join(lines)


def _annotation(gate: str, place: Place | None, message: str) -> str:
    properties: dict[str, Any] = {}
    if place is not None:
        path = Path(os.path.relpath(place.file))
        properties["file"] = place.file if path.parts[:1] == ("..",) else path.as_posix()
        properties |= {} if place.line is None else {"line": place.line}
    properties["title"] = f"winnow {gate}"
    shown = ",".join(f"{key}={_escaped(str(value), ':,')}" for key, value in properties.items())
    return f"::error {shown}::{_escaped(message, '')}"


def _escaped(words: str, more: str) -> str:
    """As GitHub decodes it: percent signs first, for they start every escape."""
    for letter in "%\r\n" + more:
        words = words.replace(letter, f"%{ord(letter):02X}")
    return words


FORMS: Mapping[str, Callable[[Sequence[Verdict]], str]] = {
    "text": text,
    "json": as_json,
    "junit": junit,
    "github": github,
}
"""How verdicts are written, by the name that `--format` takes."""
