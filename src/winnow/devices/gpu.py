"""A GPU as a device: what CUDA and HIP have in common; each brings a driver of its own."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from winnow.compilers.code_object import Argument
from winnow.compilers.triton import read_triton_object
from winnow.compilers.triton_types import NULL_POINTERS
from winnow.devices.argument_block import checked_grid
from winnow.devices.device import Buffer, DeviceFault, Grid, Module
from winnow.devices.gpu_memory import Memory, StagedBuffer
from winnow.errors import InputError, nearest

POLICY_VERSION = 1
"""Raise it when launches come to be timed differently: measurements before and after are not comparable."""

_VALUES: Mapping[str, Any] = {"i32": ctypes.c_int32, "i64": ctypes.c_int64, "f32": ctypes.c_float}
_RANGES = {"i32": 2**31, "i64": 2**63}


@dataclass(frozen=True)
class Launch:
    """One launch as a driver runs it: `lds_bytes` is local memory that the launcher has to ask for."""

    function: Any
    grid: tuple[int, int, int]
    threads: int
    lds_bytes: int
    arguments: tuple[Any, ...]
    """ctypes values in the order of the signature; pointers are `c_void_p`."""


class Driver(Memory, Protocol):
    """A runtime's own calls. Everything that it cannot do is a DeviceFault."""

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

    def load(self, payload: bytes, symbol: str, lds_bytes: int) -> Any:
        """A function of a code object."""
        ...

    def run(self, launch: Launch) -> None:
        """Launch and wait."""
        ...

    def timed(self, launch: Launch) -> int:
        """Launch, wait, and give the nanoseconds that the device measured."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, eq=False)
class GpuModule:
    """A loaded kernel, with the threads and local memory that its object states."""

    symbol: str
    signature: tuple[Argument, ...]
    function: Any
    threads: int
    lds_bytes: int


class GpuDevice:
    """A GPU as a `Device`, over a driver.

    Kernels run in this process: after one that crashes the runtime the device is lost, and says so. A launch cannot be
    stopped, so there is no time limit. Not for use by several threads at once.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._lost = ""

    def __enter__(self) -> GpuDevice:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def arch(self) -> str:
        """The target id whose shard this device loads."""
        return self._driver.arch

    def fingerprint(self) -> Mapping[str, str | int]:
        """The device, its driver, and how launches are timed."""
        return {"arch": self.arch, **self._driver.identity(), "policy": POLICY_VERSION}

    def allocate(self, nbytes: int) -> StagedBuffer:
        """Zeroed memory between guards."""
        return StagedBuffer(self._driver, nbytes)

    def load(self, payload: bytes, symbol: str, signature: Sequence[Argument]) -> GpuModule:
        """Load a code object.

        Raises:
            InputError: the object cannot be read, or takes other arguments than `signature` says.
            DeviceFault: "load" when the device refuses it.
        """
        code = read_triton_object(payload, symbol)
        if code.signature != tuple(signature):
            raise InputError(f'kernel "{symbol}" takes other arguments than its descriptor says')
        lds_bytes = code.resources["lds_bytes"] if self._driver.launcher_gives_lds else 0
        function = self._driver.load(payload, symbol, lds_bytes)
        return GpuModule(symbol, code.signature, function, code.resources["threads_per_block"], lds_bytes)

    def launch(self, module: Module, arguments: Mapping[str, Any], grid: Grid) -> None:
        """Run once and wait.

        Raises:
            InputError: an argument or the grid does not fit the signature; nothing ran.
            DeviceFault: "crash"; the device is lost.
        """
        launch, buffers = self._prepared(module, arguments, grid)
        for buffer in buffers:
            buffer.upload()
        self._guarded(lambda: self._driver.run(launch))
        for buffer in buffers:
            buffer.download()

    def time(
        self, module: Module, arguments: Mapping[str, Any], grid: Grid, *, min_seconds: float, max_launches: int
    ) -> tuple[int, ...]:
        """Nanoseconds of single launches by the device's own clock, in order. Raises as `launch`."""
        launch, buffers = self._prepared(module, arguments, grid)
        for buffer in buffers:
            buffer.upload()
        samples = tuple(self._guarded(lambda: list(self._samples(launch, min_seconds, max_launches))))
        for buffer in buffers:
            buffer.download()
        return samples

    def close(self) -> None:
        """Give the device back."""
        self._driver.close()

    def _samples(self, launch: Launch, min_seconds: float, max_launches: int) -> Iterator[int]:
        spent = 0
        for _ in range(max_launches):
            nanoseconds = self._driver.timed(launch)
            spent += nanoseconds
            if nanoseconds > 0:
                yield nanoseconds
            if spent >= min_seconds * 1e9:
                return

    def _guarded(self, call: Any) -> Any:
        if self._lost:
            raise DeviceFault("crash", f"the device was lost before: {self._lost}")
        try:
            return call()
        except DeviceFault as fault:
            self._lost = fault.detail
            raise

    def _prepared(self, module: Module, arguments: Mapping[str, Any], grid: Grid) -> tuple[Launch, list[StagedBuffer]]:
        if not isinstance(module, GpuModule):
            raise TypeError(f"a {type(module).__name__} is not a module of a GPU")
        names = [argument.name for argument in module.signature]
        for name in arguments:
            if name not in names:
                raise InputError(f'kernel "{module.symbol}" has no argument "{name}"', cure=nearest(name, names))
        buffers: list[StagedBuffer] = []
        values = tuple(_value(module.symbol, argument, arguments, buffers) for argument in module.signature)
        x, y, z = checked_grid(module.symbol, grid)
        return Launch(module.function, (x, y, z), module.threads, module.lds_bytes, values), buffers


def _value(symbol: str, argument: Argument, arguments: Mapping[str, Any], buffers: list[StagedBuffer]) -> Any:
    """One argument as ctypes; a buffer is noted as well."""
    if argument.name not in arguments:
        if argument.name in NULL_POINTERS:
            return ctypes.c_void_p(0)
        raise InputError(f'kernel "{symbol}": the argument "{argument.name}" is missing')
    value: Buffer | int | float = arguments[argument.name]
    if argument.kind == "global_buffer":
        if not isinstance(value, StagedBuffer):
            raise _unfit(symbol, argument, value, "buffer of this GPU")
        if value not in buffers:
            buffers.append(value)
        return ctypes.c_void_p(value.address)
    if isinstance(value, bool):
        raise _unfit(symbol, argument, value, argument.type)
    try:
        number = float(value) if argument.type == "f32" else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise _unfit(symbol, argument, value, argument.type) from None
    limit = _RANGES.get(argument.type)
    if limit is not None and not -limit <= number < limit:
        raise _unfit(symbol, argument, value, argument.type)
    return _VALUES[argument.type](number)


def _unfit(symbol: str, argument: Argument, value: Any, wanted: str) -> InputError:
    shown = repr(value) if isinstance(value, (int, float, str)) else f"a {type(value).__name__}"
    return InputError(f'kernel "{symbol}": the argument "{argument.name}" must be a {wanted} (value: {shown})')
