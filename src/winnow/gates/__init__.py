"""The gates by name, in the order of the flow; one file each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from winnow.engine_dir import EngineDir
from winnow.errors import Incomplete, InputError, Refused, nearest
from winnow.gates.verdict import Finding, Verdict, exit_code, incomplete, judged

__all__ = ["GATES", "exit_code", "run_gates"]

GATES = (
    "header",
    "registry",
    "budget",
    "vocabulary",
    "coverage",
    "regeneration",
    "structure",
    "tuples",
    "contract",
    "nesting",
    "reachability",
    "launch-surface",
    "interpreter",
    "archive",
    "resources",
    "agreement",
    "serves",
    "reduction",
)
"""Each is the function `check(engine, device)` of the module of its name, loaded when it runs: some need much."""

SAMPLING = frozenset({"interpreter"})
"""Gates that judge a sample, or `everything` if they are asked to."""

_MODAL = frozenset({"agreement"})
"""Gates that compare (`full`) or only look whether there is something to compare (`structural`)."""


Progress = Callable[[int, int, str], None]
"""(done, total, gate), for gates that take long."""


def silent(done: int, total: int, gate: str) -> None:
    """Progress that nobody watches."""


def run_gates(
    engine: EngineDir,
    names: Sequence[str],
    device: str | None,
    *,
    everything: bool = False,
    mode: str = "full",
    progress: Progress = silent,
) -> list[Verdict]:
    """The verdicts of the gates that are named, or of all of them, in the order of the flow.

    `device` is the runtime of gates that run kernels; None is the one that the archive is for. `everything` makes gates
    judge all of what they judge a sample of; `mode` is that of the gate `agreement`.

    Raises:
        InputError: no gate of that name, or an artefact that cannot be read.
    """
    for name in names:
        if name not in GATES:
            raise InputError(f'no gate is called "{name}"', cure=nearest(name, GATES))

    def extent_of(name: str) -> dict[str, object]:
        sampling = {"everything": everything, "progress": lambda done, total: progress(done, total, name)}
        return (sampling if name in SAMPLING else {}) | ({"mode": mode} if name in _MODAL else {})

    verdicts: list[Verdict] = []
    for name in GATES:
        if not names or name in names:
            verdicts.append(_verdict(name, engine, device, verdicts, extent_of(name)))
    return verdicts


def _verdict(
    name: str, engine: EngineDir, device: str | None, earlier: Sequence[Verdict], extent: dict[str, object]
) -> Verdict:
    try:
        return _gate(name)(engine, device, **extent)
    except Refused as refusal:
        # What it read refuses as a whole: the verdicts of the other gates are wanted all the same.
        return judged(name, "stopped by its first finding", [Finding(name, refusal.message, refusal.place)])
    except Incomplete as error:
        return incomplete(name, str(error).replace("\n", ";"))
    except InputError as error:
        # A gate before may have named the very defect: then its findings are the answer, not this error.
        if all(verdict.state != "refused" for verdict in earlier):
            raise
        return incomplete(name, str(error).replace("\n", ";"))


def _gate(name: str) -> Callable[..., Verdict]:
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    check: Callable[..., Verdict] = module.check
    return check
