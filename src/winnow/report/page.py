"""The report: one HTML file without scripts or outside parts, made from a summary."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from winnow.files import write_atomic
from winnow.report.summary import Summary


def render(summary: Summary) -> str:
    """The page's HTML."""
    environment = Environment(
        loader=PackageLoader("winnow.report"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(summary=summary, result=summary.result)


def write_report(summary: Summary, path: Path) -> int:
    """Write the page; returns its size in bytes."""
    text = render(summary)
    write_atomic(path, text)
    return len(text.encode())
