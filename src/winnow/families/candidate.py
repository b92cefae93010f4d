"""How an algorithm of a CPU family becomes a candidate of its registry, and its spec a kernel source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from winnow.compilers.source import CSource, Parameter
from winnow.families.algorithm import Admission, Algorithm, TunedSpec
from winnow.families.cpu import CPU_ARCHES, kernel_text
from winnow.registry import Capability, DimRelation, KernelCandidate, ShapeRange


def cpu_candidate(
    algorithm: Algorithm[Any],
    *,
    name: str,
    family: str,
    spec_id: str,
    priority: int,
    shapes: tuple[ShapeRange, ...],
    features: frozenset[str],
    relations: tuple[DimRelation, ...] = (),
    parameters: tuple[Parameter, ...],
    grid: Callable[[Any, Any], tuple[int, int, int]],
    builder: Callable[..., CSource],
) -> KernelCandidate:
    """The candidate of an algorithm, whose requests have a `problem()`: what is wrong with them, or None.

    `grid` maps (spec, request) to the blocks of work that one launch runs, one after another on the calling thread.
    """

    def supports(request: Any) -> Admission:
        reason = request.problem()
        if reason is not None:
            return False, reason
        try:
            algorithm.select(request)
        except ValueError as error:
            return False, str(error)
        return True, ""

    return KernelCandidate(
        name=name,
        family=family,
        algorithm=algorithm.spec_type.ALGORITHM,
        spec_id=spec_id,
        abi_version=algorithm.spec_type.ABI,
        priority=priority,
        capability=Capability(
            arches=CPU_ARCHES, dtypes=("fp32",), shapes=shapes, relations=relations, supports_features=features
        ),
        spec=algorithm.select,
        specs=algorithm.specs,
        parameters=lambda spec: parameters,
        launch_grid=grid,
        builder=builder,
        space=algorithm.space,
        supports=supports,
    )


def c_source(
    algorithm: Algorithm[Any],
    spec: TunedSpec,
    arch: str,
    *,
    family: str,
    files: tuple[str, ...],
    parameters: tuple[Parameter, ...],
    defines: tuple[tuple[str, int], ...],
) -> CSource:
    """The kernel of a spec: the family's C files under the spec's numbers and further defines.

    Raises:
        ValueError: the spec is not supported on this target.
    """
    supported, reason = algorithm.supports(spec, arch)
    if not supported:
        raise ValueError(reason)
    numbers = tuple((name, value) for name, value in spec.items() if isinstance(value, int))
    return CSource(
        symbol=spec.kernel_name(),
        text=kernel_text(family, *files),
        parameters=parameters,
        defines=(*((name.upper(), value) for name, value in numbers), *defines),
    )
