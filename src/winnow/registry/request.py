"""What a caller asks for, as the registry sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any


@dataclass(frozen=True)
class OperatorRequest:
    """Base of a family's request. A family adds its dims as fields and says them in `dims()`.

    `algorithm`, `spec_id`, `tuning_id` are `auto` unless pinned; `tuning_knobs` is a name-sorted tuple of pairs.
    """

    arch: str
    dtype: str
    layout: str = ""
    algorithm: str = "auto"
    spec_id: str = "auto"
    tuning_id: str = "auto"
    tuning_knobs: tuple[tuple[str, Any], ...] = ()

    def normalized(self) -> dict[str, Any]:
        """The request as plain data: what its hash is taken over."""
        return asdict(self)

    def dims(self) -> Mapping[str, int]:
        """Problem sizes by name; may hold derived values."""
        return {}

    def features(self) -> frozenset[str]:
        """What the problem asks for beyond its sizes (`causal`, …)."""
        return frozenset()


def opt_in_probe(request: Any, candidate: Any) -> Any:
    """The request with the candidate's algorithm and spec id pinned; unchanged where it lacks those fields."""
    if not {"algorithm", "spec_id"} <= {f.name for f in fields(request)}:
        return request
    return replace(request, algorithm=candidate.algorithm, spec_id=candidate.spec_id)


def pin_to_spec(request: Any, candidate: Any, spec: Any) -> Any:
    """`opt_in_probe`, and where the request carries tuning fields, pinned to exactly this spec."""
    probe = opt_in_probe(request, candidate)
    if not {"tuning_id", "tuning_knobs"} <= {f.name for f in fields(request)}:
        return probe
    own_id = getattr(spec, "tuning_id", None)
    if own_id is None:
        return replace(probe, tuning_id="auto", tuning_knobs=())
    return replace(probe, tuning_id=own_id, tuning_knobs=spec.knobs)


def selector_matches(wanted: str, own: str) -> bool:
    """Whether a selector names this value; `auto` names every one. Case and outer blanks do not count."""
    return wanted.strip().lower() in ("auto", own.strip().lower())
