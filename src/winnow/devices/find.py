"""Device runtimes by name, from the entry-point group `winnow.devices`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from winnow import plugins
from winnow.devices.device import Device
from winnow.targets.arches import ARCHES

GROUP = "winnow.devices"
CPU = "cpu"


class OpenDevice(Protocol):
    """Opens the device of one runtime; `timeout_s` is the time limit of one launch in seconds."""

    def __call__(self, *, timeout_s: float) -> Device: ...


def find_runtime(name: str) -> OpenDevice:
    """What opens a device of that runtime, and raises InputError where this machine has none.

    Raises:
        InputError: no such runtime is installed.
    """
    opener: OpenDevice = plugins.load(GROUP, name)
    return opener


def open_device(name: str, *, timeout_s: float) -> Device:
    """A device of that runtime.

    Raises:
        InputError: no such runtime is installed, or this machine has no such device.
    """
    return find_runtime(name)(timeout_s=timeout_s)


def runtime_for(arches: Sequence[str]) -> str:
    """The runtime that runs objects of these architectures: the CPU's if one is a CPU, or if none is known."""
    runtimes = {ARCHES[arch].device for arch in arches if arch in ARCHES}
    return CPU if CPU in runtimes else min(runtimes, default=CPU)
