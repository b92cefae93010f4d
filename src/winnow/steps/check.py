"""Every gate of an engine, or those named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from winnow.engine_dir import EngineDir
from winnow.gates.inspection import Inspection
from winnow.gates.run import run_gates
from winnow.gates.verdict import Verdict, exit_code
from winnow.steps.progress import Progress, silent


@dataclass(frozen=True)
class Checked:
    """The verdicts of gates, in the order of the flow. `exit_code` is what `winnow check` ends with."""

    verdicts: tuple[Verdict, ...]

    @property
    def exit_code(self) -> int:
        """0 where every gate passed."""
        return exit_code(self.verdicts)

    @property
    def passed(self) -> bool:
        """Whether every gate passed."""
        return self.exit_code == 0

    def as_list(self) -> list[dict[str, Any]]:
        """Plain data, a record a gate."""
        return [verdict.as_dict() for verdict in self.verdicts]


def check_engine(
    engine: EngineDir,
    gates: Sequence[str] = (),
    *,
    device: str | None = None,
    everything: bool = False,
    mode: Literal["full", "structural"] = "full",
    progress: Progress = silent,
) -> Checked:
    """The verdicts of these gates, by default all.

    `device` is the runtime of gates that run kernels, by default the one that the archive is for. `everything` makes
    gates judge all of what they judge a sample of; `mode` is that of gate `agreement`.

    Raises:
        InputError: no gate of that name, or a manifest that cannot be read.
    """
    inspection = Inspection(engine, device=device, everything=everything, mode=mode, progress=progress)
    return Checked(tuple(run_gates(inspection, gates)))
