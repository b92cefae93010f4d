"""An ordered set of candidates of one family, and how a request finds its candidate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from winnow.identity import spec_identity
from winnow.registry.kernel_id import DispatchResult, KernelId, dispatch_result
from winnow.registry.request import opt_in_probe, pin_to_spec, selector_matches


class PinRefused(ValueError):
    """A request pinned a spec and every candidate refused it; `refusals` maps each candidate to its reason."""

    def __init__(self, request: Any, refusals: dict[str, str]) -> None:
        self.request = request
        self.refusals = refusals
        reasons = "; ".join(f"{name}: {why}" for name, why in refusals.items())
        super().__init__(
            f"pinned spec_id={request.spec_id} tuning_id={getattr(request, 'tuning_id', 'auto')} refused: {reasons}"
        )


@dataclass
class CandidateRegistry:
    """Candidates of one family, ordered by (priority, name)."""

    family: str
    known_arches: frozenset[str]
    dim_vocabulary: frozenset[str]
    require_build: bool = True
    _candidates: dict[str, Any] = field(default_factory=dict)

    def register(self, candidate: Any) -> Any:
        """Add a candidate and return it. Raises ValueError naming the first thing that is wrong with it."""
        refusal = self._refusal(candidate)
        if refusal is not None:
            raise ValueError(f"{candidate.name}: {refusal}")
        self._candidates[candidate.name] = candidate
        return candidate

    def _refusal(self, candidate: Any) -> str | None:
        if candidate.name in self._candidates:
            return "registered twice"
        if candidate.family != self.family:
            return f"its family is {candidate.family}, the registry's {self.family}"
        if candidate.capability is None:
            return "no capability"
        if not candidate.capability.arches:
            return "no arches"
        unknown = sorted(set(candidate.capability.arches) - self.known_arches)
        if unknown:
            return f"unknown arch {unknown[0]}"
        strange = sorted(candidate.capability.dim_names - self.dim_vocabulary)
        if strange:
            return f"dim {strange[0]} is not in the vocabulary {sorted(self.dim_vocabulary)}"
        if self.require_build and candidate.builder is None:
            return "no build"
        return None

    def candidates(self) -> tuple[Any, ...]:
        """All candidates by (priority, name)."""
        return tuple(sorted(self._candidates.values(), key=lambda c: (c.priority, c.name)))

    def get(self, name: str) -> Any:
        """The candidate of that name. Raises ValueError listing the names there are."""
        if name not in self._candidates:
            raise ValueError(f"no candidate {name!r}; registered: {', '.join(sorted(self._candidates))}")
        return self._candidates[name]

    def resolve(self, kernel_id: KernelId) -> Any:
        """The candidate that an id names. Raises ValueError when it is unknown or its ABI has changed."""
        candidate = self.get(kernel_id.candidate)
        if candidate.abi_version != kernel_id.abi_version:
            raise ValueError(
                f"{candidate.name}: ABI {candidate.abi_version}, the id was made for {kernel_id.abi_version}"
            )
        return candidate

    def for_arch(self, arch: str) -> tuple[Any, ...]:
        """Candidates whose capability lists that arch."""
        return tuple(c for c in self.candidates() if arch in c.capability.arches)

    def coverage(self) -> dict[str, Any]:
        """What is registered, as plain data."""
        rows = [
            {
                "name": c.name,
                "algorithm": c.algorithm,
                "spec_id": c.spec_id,
                "abi_version": c.abi_version,
                "priority": c.priority,
                "buildable": c.builder is not None,
                "opt_in": c.opt_in,
                "capability": c.capability.as_dict(),
            }
            for c in self.candidates()
        ]
        return {
            "family": self.family,
            "requires_build": self.require_build,
            "opt_in_candidates": [c.name for c in self.candidates() if c.opt_in],
            "candidates": rows,
        }

    def supported(self, request: Any) -> tuple[Any, ...]:
        """Candidates that admit the request; an opt-in one only where the request names its algorithm."""
        return tuple(c for c in self.candidates() if self._why_not(c, request) is None)

    def _why_not(self, candidate: Any, request: Any) -> str | None:
        if not selector_matches(request.algorithm, candidate.algorithm):
            return f"algorithm {request.algorithm} is pinned"
        if candidate.opt_in and request.algorithm.strip().lower() == "auto":
            return "opt-in: pin its algorithm"
        if not selector_matches(request.spec_id, candidate.spec_id):
            return f"spec_id {request.spec_id} is pinned"
        admitted, reason = candidate.admits(request)
        return None if admitted else reason

    def select(
        self, request: Any, ranker: Callable[[Any, tuple[Any, ...]], Iterable[Any]] | None = None
    ) -> DispatchResult:
        """The candidate and spec for a request: first supported by priority, or the ranker's first answer.

        Raises:
            PinRefused: a spec id is pinned and no candidate takes it.
            ValueError: nothing supports the request (each candidate's reason is named), or the ranker's answer is
                none of the supported candidates.
        """
        refusals = {c.name: why for c in self.candidates() if (why := self._why_not(c, request)) is not None}
        supported = self.supported(request)
        if not supported:
            if request.spec_id.strip().lower() != "auto":
                raise PinRefused(request, refusals)
            reasons = "; ".join(f"{name}: {why}" for name, why in refusals.items())
            raise ValueError(f"no candidate of {self.family} supports the request: {reasons}")
        chosen = supported[0]
        if ranker is not None:
            answer = next(iter(ranker(request, supported)), None)
            if answer not in supported:
                raise ValueError(f"the ranker answered {getattr(answer, 'name', answer)}, which is not supported")
            chosen = answer
        return dispatch_result(self.family, request, chosen, chosen.select_spec(request))

    def iter_combos(
        self, request: Any, *, candidate_prefix: str = "", include_opt_in: bool = True
    ) -> Iterator[tuple[Any, Any, Any]]:
        """(candidate, probe, spec) for everything that could serve the request, in the candidates' order."""
        for candidate in self.candidates():
            if not candidate.name.startswith(candidate_prefix) or (candidate.opt_in and not include_opt_in):
                continue
            if request.arch not in candidate.capability.arches:
                continue
            if not selector_matches(request.algorithm, candidate.algorithm):
                continue
            if not selector_matches(request.spec_id, candidate.spec_id):
                continue
            probe = opt_in_probe(request, candidate) if include_opt_in else request
            if not candidate.admits(probe)[0]:
                continue
            specs = list(candidate.sweep_space(probe)) or [candidate.select_spec(probe)]
            yield from ((candidate, probe, spec) for spec in specs)

    def sweep_space(self, request: Any, **filters: Any) -> Iterator[DispatchResult]:
        """`iter_combos` as dispatch results, one for each distinct spec."""
        seen: set[str] = set()
        for candidate, probe, spec in self.iter_combos(request, **filters):
            key = spec_identity(spec)
            if key not in seen:
                seen.add(key)
                yield dispatch_result(self.family, pin_to_spec(probe, candidate, spec), candidate, spec)
