"""Another family that knows nothing of Winnow: requests that pin no knobs, a knob left to policy, an opt-in kernel."""

from dataclasses import dataclass
from types import SimpleNamespace


@dataclass(frozen=True)
class SumRequest:
    arch: str
    dtype: str
    rows: int
    mask_type: int = 0
    algorithm: str = "auto"
    spec_id: str = "auto"


@dataclass(frozen=True)
class SumSpec:
    dtype: str
    block: int
    persistent: bool | None = None

    def resolved_persistent(self):
        return self.block >= 64 if self.persistent is None else self.persistent


def build_sum(spec: SumSpec, *, arch: str):
    return spec


def supports_sum(spec: SumSpec, *, arch: str):
    return True, ""


class Sum:
    name, family, algorithm, spec_id, abi_version, priority = "sum_rows", "sum", "sum_rows", "v1", "1", 50
    capability = SimpleNamespace(arches=("gfx950",))
    builder = staticmethod(build_sum)
    opt_in = False

    def admits(self, request):
        if request.dtype != "fp32":
            return False, f"capability: dtype {request.dtype}"
        if request.mask_type == 2:
            return False, "no kernel masks at the bottom right"
        return True, ""

    def select_spec(self, request):
        return SumSpec(request.dtype, 32)

    def sweep_space(self, request):
        blocks = (32, 64) if request.rows > 16 else (32,)
        return iter([SumSpec(request.dtype, b, p) for b in blocks for p in (None, b < 64)])


class FastSum(Sum):
    name, algorithm, priority, opt_in = "sum_fast", "sum_fast", 5, True

    def sweep_space(self, request):
        return iter([SumSpec(request.dtype, 128)])


REGISTRY = SimpleNamespace(candidates=lambda: (FastSum(), Sum()))
