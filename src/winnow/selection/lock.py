"""`plan.lock`: what a person approved to build and to measure, so that nothing larger or other happens unnoticed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from winnow.errors import Place, Refused
from winnow.files import write_atomic
from winnow.identity import canonical_json, pretty_json, sha256_hex
from winnow.selection.kernel import Kernel
from winnow.strict.json_reader import load_json
from winnow.strict.schema import StrictModel, validate
from winnow.wording import amount

_CURE = "look at what changed, then approve it: winnow plan --approve --reason TEXT"


class Estimate(StrictModel):
    """What the work is expected to take on one core and one device, in seconds."""

    compile_seconds: float
    sweep_seconds: float


class Lock(StrictModel):
    """An approved plan. `kernels` and `graphs` map names to digests; `objects` and `pairs` count what is made of them.

    `selection` is a digest over all kernels. `pairs` are kernel and graph on one device, the one with the most.
    """

    version: Literal[1] = 1
    engine: str
    reason: str = Field(min_length=1)
    selection: str
    targets: list[str]
    objects: int
    pairs: int
    estimate: Estimate
    kernels: dict[str, str]
    graphs: dict[str, str]


@dataclass(frozen=True)
class Work:
    """What there is to do: the kernels of a selection by name and digest, their targets, and the graphs by id."""

    kernels: Mapping[str, str]
    targets: Sequence[str]
    graphs: Mapping[str, str]


def kernel_digest(kernel: Kernel) -> str:
    """Digest of everything that makes a kernel, its name apart."""
    made: list[Any] = [kernel.kernel_source, dict(kernel.metadata), kernel.priority, list(kernel.arch)]
    return sha256_hex(canonical_json(made))[:16]


def work_of(kernels: Sequence[Kernel], graphs: Mapping[str, str]) -> Work:
    """The work that a selection and a corpus (graph ids by name) make."""
    targets = list(dict.fromkeys(arch for kernel in kernels for arch in kernel.arch))
    return Work({kernel.name: kernel_digest(kernel) for kernel in kernels}, targets, graphs)


def approve(work: Work, engine: str, reason: str, *, objects: int, pairs: int, estimate: Estimate) -> Lock:
    """The lock that approves exactly this work."""
    return Lock(
        engine=engine,
        reason=reason,
        selection=sha256_hex(canonical_json(dict(work.kernels))),
        targets=list(work.targets),
        objects=objects,
        pairs=pairs,
        estimate=estimate,
        kernels=dict(work.kernels),
        graphs=dict(work.graphs),
    )


def read_lock(path: Path) -> Lock | None:
    """The lock at `path`, None where there is none. Raises InputError where it is malformed."""
    return validate(Lock, load_json(path)) if path.is_file() else None


def write_lock(path: Path, lock: Lock) -> None:
    """Write a lock: the same bytes for the same plan."""
    write_atomic(path, pretty_json(lock.model_dump()))


def changes(lock: Lock, work: Work) -> list[str]:
    """What differs between the approved plan and the work at hand, one sentence each."""
    found = [*_changed("kernel", lock.kernels, work.kernels), *_changed("graph", lock.graphs, work.graphs)]
    if list(work.targets) != lock.targets:
        found.append(f"targets are {', '.join(work.targets)}, approved were {', '.join(lock.targets)}")
    return found


def _changed(what: str, approved: Mapping[str, str], now: Mapping[str, str]) -> Iterable[str]:
    yield from (f"{what} {name} was added" for name in now if name not in approved)
    yield from (f"{what} {name} was removed" for name in approved if name not in now)
    yield from (f"{what} {name} is another one" for name in now if name in approved and approved[name] != now[name])


def check_lock(path: Path, lock: Lock, work: Work) -> None:
    """Raises Refused with what changed since the plan was approved, where anything did."""
    found = changes(lock, work)
    if not found:
        return
    shown = "".join(f"\n    {line}" for line in found[:20])
    more = f"\n    and {len(found) - 20} more" if len(found) > 20 else ""
    raise Refused(
        f"the approved plan is not what there is to do ({amount(len(found), 'changes')}){shown}{more}",
        place=Place(str(path)),
        cure=_CURE,
    )


def check_unapproved(path: Path, excess: str | None) -> None:
    """Raises Refused where there is more to do than the budget says and no lock approves it."""
    if excess is not None:
        raise Refused(f"{excess}, and no {path.name} approves more", place=Place(str(path.parent)), cure=_CURE)
