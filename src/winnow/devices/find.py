"""Device runtimes by name, from the entry-point group `winnow.devices`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from winnow import plugins
from winnow.devices.device import Device
from winnow.errors import InputError, WinnowError
from winnow.targets.arches import ARCHES

GROUP = "winnow.devices"
CPU = "cpu"
_METHODS = ("arch", "fingerprint", "allocate", "load", "launch", "time", "close", "__enter__", "__exit__")


class OpenDevice(Protocol):
    """Opens the device of one runtime; `timeout_s` is the time limit of one launch in seconds."""

    def __call__(self, *, timeout_s: float) -> Device: ...


def find_runtime(name: str) -> OpenDevice:
    """What opens a device of that runtime, and raises InputError where this machine has none.

    Raises:
        InputError: no such runtime is installed.
    """
    opener: OpenDevice = plugins.load(GROUP, name, Callable)  # type: ignore[arg-type]
    return opener


def open_device(name: str, *, timeout_s: float) -> Device:
    """A device of that runtime.

    Raises:
        InputError: no such runtime is installed, it fails, or this machine has no such device.
    """
    try:
        device = find_runtime(name)(timeout_s=timeout_s)
    except WinnowError:
        raise
    except (Exception, SystemExit) as error:
        raise _unfit(name, f"raised {type(error).__name__}: {error}") from error
    lacking = [method for method in _METHODS if not hasattr(device, method)]
    if lacking:
        raise _unfit(name, f"gave a value of type {type(device).__name__}, which lacks {lacking[0]}")
    return device


def _unfit(name: str, said: str) -> InputError:
    return InputError(f'the device runtime "{name}" {said}', cure="correct the package that brings it: docs/plugins.md")


def runtime_for(arches: Sequence[str]) -> str:
    """The runtime that runs objects of these architectures: the CPU's if one is a CPU, or if none is known."""
    runtimes = {ARCHES[arch].device for arch in arches if arch in ARCHES}
    return CPU if CPU in runtimes else min(runtimes, default=CPU)
