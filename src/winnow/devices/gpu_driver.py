"""What a GPU's worker asks of a runtime; `cuda_driver` and `hip_driver` implement it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Launch:
    """One launch as a driver runs it: `lds_bytes` is local memory that the launcher has to ask for."""

    function: Any
    grid: tuple[int, int, int]
    threads: int
    lds_bytes: int
    arguments: tuple[Any, ...]
    """ctypes values in the order of the signature; pointers are `c_void_p`."""


class Driver(Protocol):
    """A runtime's own calls on one device, made without arguments.

    Raises an InputError when it cannot be made. Everything that it cannot do afterwards is a DeviceFault: "load" for an
    object that it refuses; after any other one it is not used again.
    """

    @property
    def arch(self) -> str:
        """The target id of the device."""
        ...

    @property
    def launcher_gives_lds(self) -> bool:
        """Whether local memory is asked for at the launch, or stands in the object."""
        ...

    def identity(self) -> Mapping[str, str | int]:
        """What must be equal for two measurements to be comparable."""
        ...

    def allocate(self, nbytes: int) -> int:
        """Address of new device memory."""
        ...

    def free(self, address: int) -> None: ...

    def upload(self, address: int, host: NDArray[np.uint8]) -> None: ...

    def download(self, address: int, host: NDArray[np.uint8]) -> None: ...

    def load(self, payload: bytes, symbol: str, lds_bytes: int) -> Any:
        """A function of a code object."""
        ...

    def run(self, launch: Launch) -> None:
        """Launch and wait."""
        ...

    def timed(self, launch: Launch) -> int:
        """Launch, wait, and give the nanoseconds that the device measured."""
        ...
