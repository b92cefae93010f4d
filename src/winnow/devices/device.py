"""What the engine and the sweep ask of a device; one file beside this one implements it for each runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from winnow.compilers.code_object import Argument

FaultKind = Literal["crash", "timeout", "load"]
Grid = tuple[int, int, int]


class DeviceFault(Exception):
    """A kernel took its worker down, ran out of time, or could not be loaded: it costs that variant, not the run."""

    def __init__(self, kind: FaultKind, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.kind, self.detail)


class Buffer(Protocol):
    """Memory that host and device both see. `bytes_` is a writable uint8 view of exactly the size asked for."""

    @property
    def bytes_(self) -> NDArray[np.uint8]: ...

    def guards_intact(self) -> bool:
        """False once anything wrote into the guard zones before or after the buffer."""
        ...

    def free(self) -> None: ...


class Module(Protocol):
    """A code object that the device has loaded."""

    @property
    def symbol(self) -> str: ...

    @property
    def signature(self) -> tuple[Argument, ...]:
        """Its arguments in order."""
        ...


class Device(Protocol):
    """A device that launches code objects. Use it as a context manager."""

    @property
    def arch(self) -> str:
        """The target id whose shard this device loads (`x86-64-v3`, `gfx950`)."""
        ...

    def fingerprint(self) -> Mapping[str, str | int]:
        """What must be equal for two measurements to be comparable. JSON scalars only."""
        ...

    def allocate(self, nbytes: int) -> Buffer: ...

    def load(self, payload: bytes, symbol: str, signature: Sequence[Argument]) -> Module:
        """Raises DeviceFault("load", …) when the object cannot be loaded or lacks the symbol."""
        ...

    def launch(self, module: Module, arguments: Mapping[str, Any], grid: Grid) -> None:
        """Run once and wait. `arguments` maps each name of the signature to a Buffer or a number.

        Raises DeviceFault on a crash or when the time limit passes; the device is usable again afterwards, and
        modules loaded before must still work.
        """
        ...

    def time(
        self,
        module: Module,
        arguments: Mapping[str, Any],
        grid: Grid,
        *,
        min_seconds: float,
        max_launches: int,
    ) -> tuple[int, ...]:
        """Nanoseconds of single launches, in order: at least one, then until `min_seconds` or `max_launches`."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Device: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
