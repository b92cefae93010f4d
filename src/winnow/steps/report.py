"""One HTML file that shows an engine's counts, decisions and gates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from winnow.engine_dir import EngineDir
from winnow.gates.verdict import Verdict
from winnow.report.gather import gather
from winnow.report.page import write_report
from winnow.report.summary import Summary
from winnow.steps.check import Checked, check_engine
from winnow.steps.progress import Progress, silent


@dataclass(frozen=True)
class Reported:
    """A report that was written: its file, its size in bytes, and what it shows."""

    summary: Summary
    checked: Checked
    page: Path
    bytes: int

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**self.summary.as_dict(), "report": str(self.page)}


def report_engine(
    engine: EngineDir, *, device: str | None = None, output: Path | None = None, progress: Progress = silent
) -> Reported:
    """Run every gate and write the page to `output`, by default `build/report.html` beside the manifest.

    Raises:
        Incomplete: no sweep of this catalog has finished.
        InputError: an artefact that cannot be read.
    """
    checked = check_engine(engine, device=device, progress=progress)
    summary, page, size = write_page(engine, checked.verdicts, output)
    return Reported(summary, checked, page, size)


def write_page(engine: EngineDir, verdicts: Sequence[Verdict], output: Path | None = None) -> tuple[Summary, Path, int]:
    """Write the page of verdicts that are known already; (what it shows, its file, its size in bytes)."""
    summary, page = gather(engine, verdicts), output or engine.build / "report.html"
    return summary, page, write_report(summary, page)
