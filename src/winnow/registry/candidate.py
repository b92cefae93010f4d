"""A kernel candidate: an algorithm that can serve requests, with its capability, its policy and its builder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from winnow.registry.capability import Capability

Admission = tuple[bool, str]


def _no_residue(request: Any) -> Admission:
    return True, ""


def _one_thread(spec: Any) -> tuple[int, int, int]:
    return 1, 1, 1


@dataclass(frozen=True)
class KernelCandidate:
    """One entry of a registry, with rocKE's names and meanings.

    The lower `priority` number wins; ties go by name. Bands: 0-9 opt-in only, 10-29 fast paths of one arch and shape,
    30-49 specialised for an arch, 50-69 several arches, from 70 the portable fallback. An opt-in candidate is invisible
    to `auto`. `supports` is what is left to decide after the capability: it returns (admitted, reason), is pure, and
    does not check again what the capability says.
    """

    name: str
    family: str
    algorithm: str
    spec_id: str
    abi_version: str
    priority: int
    capability: Capability
    spec: Callable[[Any], Any]
    """Request → spec: the pinned knobs over the default of the request's cell. ValueError when refused."""
    specs: Callable[[Any], Iterator[Any]]
    """Request → the production specs worth measuring."""
    parameters: Callable[[Any], Sequence[Any]]
    """Spec → the kernel's arguments in order."""
    launch_grid: Callable[[Any, Any], tuple[int, int, int]]
    """(spec, request) → grid."""
    builder: Callable[..., Any] | None = None
    """`builder(spec, *, arch)` → kernel source."""
    space: Callable[[Any], Any] | None = None
    """Request → the whole tuning space."""
    supports: Callable[[Any], Admission] = _no_residue
    launch_block: Callable[[Any], tuple[int, int, int]] = _one_thread
    """Spec → block."""
    opt_in: bool = False

    def admits(self, request: Any) -> Admission:
        """Capability first, then the predicate; the reason says which of the two refused."""
        reason = self.capability.refusal(request)
        return (False, f"capability: {reason}") if reason is not None else self.supports(request)

    def select_spec(self, request: Any) -> Any:
        """The spec for a request. Raises ValueError when a pin is refused."""
        return self.spec(request)

    def sweep_space(self, request: Any) -> Iterator[Any]:
        """The production specs for a request, the default first."""
        return self.specs(request)

    def signature(self, spec: Any) -> Sequence[Any]:
        """The kernel's arguments in order."""
        return self.parameters(spec)

    def grid(self, spec: Any, request: Any) -> tuple[int, int, int]:
        """The launch grid."""
        return self.launch_grid(spec, request)

    def block(self, spec: Any) -> tuple[int, int, int]:
        """The launch block."""
        return self.launch_block(spec)

    def build(self, spec: Any, arch: str) -> Any:
        """The kernel's source. Raises NotImplementedError for a candidate without a builder."""
        if self.builder is None:
            raise NotImplementedError(f"{self.name} has no builder")
        return self.builder(spec, arch=arch)
