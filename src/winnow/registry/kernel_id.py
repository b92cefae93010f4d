"""The identity of a dispatch: which kernel serves which request, as strings that can be stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from winnow.identity import spec_identity, stable_json_hash


@dataclass(frozen=True)
class KernelId:
    """Names one kernel for one request."""

    op: str
    family: str
    candidate: str
    arch: str
    algorithm: str
    spec_id: str
    abi_version: str
    request_hash: str
    spec_hash: str
    tuning_id: str = ""

    @property
    def compile_key(self) -> str:
        """Equal for dispatches that share one binary."""
        return ":".join((self.arch, self.abi_version, self.spec_hash))

    @property
    def selection_key(self) -> str:
        """Equal for the same choice for the same request; the tuning id is not part of it."""
        parts = (self.op, self.family, self.candidate, self.arch, self.algorithm, self.spec_id)
        return ":".join((*parts, self.abi_version, self.request_hash, self.spec_hash))


@dataclass(frozen=True)
class DispatchResult:
    """A request's candidate and spec, how to launch it, and why it was chosen."""

    request: Any
    candidate: Any
    spec: Any
    kernel_id: KernelId
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    signature: Sequence[Any]
    explanation: tuple[str, ...]


def make_kernel_id(request: Any, candidate: Any, spec: Any, *, op: str) -> KernelId:
    """The id of serving `request` by `candidate` with `spec`."""
    return KernelId(
        op=op,
        family=candidate.family,
        candidate=candidate.name,
        arch=request.arch,
        algorithm=candidate.algorithm,
        spec_id=candidate.spec_id,
        abi_version=candidate.abi_version,
        request_hash=stable_json_hash(request.normalized()),
        spec_hash=spec_identity(spec),
        tuning_id=getattr(spec, "tuning_id", ""),
    )


def dispatch_result(op: str, request: Any, candidate: Any, spec: Any) -> DispatchResult:
    """Everything about serving `request` by `candidate` with `spec`."""
    kernel_id = make_kernel_id(request, candidate, spec, op=op)
    explanation = [
        f"{candidate.name} ({candidate.algorithm}) on {request.arch}",
        f"algorithm={candidate.algorithm}",
        f"spec_id={candidate.spec_id}",
        *([f"tuning_id={kernel_id.tuning_id}"] if kernel_id.tuning_id else []),
        f"spec_hash={kernel_id.spec_hash}",
        f"request_hash={kernel_id.request_hash}",
    ]
    return DispatchResult(
        request=request,
        candidate=candidate,
        spec=spec,
        kernel_id=kernel_id,
        grid=candidate.grid(spec, request),
        block=candidate.block(spec),
        signature=candidate.signature(spec),
        explanation=tuple(explanation),
    )
