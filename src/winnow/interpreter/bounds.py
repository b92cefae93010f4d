"""Each access of an interpreted kernel is looked up: memory beside its tensors is neither read nor written."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from winnow.interpreter.host_array import HostArray

_ACCESSES = {
    "create_masked_load": ("reads", 0, 1),
    "create_masked_store": ("writes", 0, 2),
    "create_atomic_rmw": ("writes", 1, 3),
    "create_atomic_cas": ("writes", 0, None),
}
"""Triton's operation: what it does, and the places of its pointers and of its mask among its arguments."""


class OutOfBounds(Exception):
    """A kernel accessed memory that is none of its tensors'; `str()` says how much, and where."""


@contextlib.contextmanager
def bounded(tensors: Mapping[str, HostArray]) -> Iterator[None]:
    """Inside, an access that the mask lets through and that is not in the span of a tensor raises OutOfBounds."""
    from triton.runtime.interpreter import InterpreterBuilder

    spans = {name: array.span() for name, array in tensors.items()}
    originals = {name: getattr(InterpreterBuilder, name) for name in _ACCESSES}

    def checked(original: Callable[..., Any], verb: str, pointers: int, mask: int | None) -> Callable[..., Any]:
        def access(self: Any, *arguments: Any, **named: Any) -> Any:
            target = arguments[pointers]
            addresses = (
                target.data if mask is None else target.data[np.broadcast_to(arguments[mask].data, target.data.shape)]
            )
            _refuse_outside(verb, addresses, target.get_element_ty().primitive_bitwidth // 8, spans)
            return original(self, *arguments, **named)

        return access

    for name, original in originals.items():
        setattr(InterpreterBuilder, name, checked(original, *_ACCESSES[name]))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(InterpreterBuilder, name, original)


def _refuse_outside(verb: str, addresses: NDArray[Any], size: int, spans: Mapping[str, tuple[int, int]]) -> None:
    """Raise OutOfBounds unless each element of `size` bytes lies in a span, (first, past the last) address."""
    if not addresses.size:
        return
    lowest, highest = int(addresses.min()), int(addresses.max()) + size
    if any(first <= lowest and highest <= end for first, end in spans.values()):
        return
    outside = np.ones(addresses.shape, bool)
    for first, end in spans.values():
        outside &= (addresses < first) | (addresses > end - size)
    if outside.any():
        at = int(addresses[outside].min())
        distances = {
            name: f"{at - end} bytes past" if at >= end else f"{first - at} bytes before"
            for name, (first, end) in spans.items()
        }
        nearest = min(spans, key=lambda name: min(abs(at - edge) for edge in spans[name]))
        raise OutOfBounds(
            f"{verb} {np.count_nonzero(outside)} elements beside its tensors, the first {distances[nearest]} {nearest}"
        )
