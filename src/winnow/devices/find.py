"""Device runtimes by name, from the entry-point group `winnow.devices`."""

from __future__ import annotations

from importlib.metadata import entry_points

from winnow.devices.device import Device
from winnow.errors import InputError, nearest


def open_device(name: str, *, timeout_s: float) -> Device:
    """A device of that runtime; `timeout_s` is the time limit of one launch in seconds.

    Raises:
        InputError: no such runtime is installed, or this machine has no such device.
    """
    known = {entry.name: entry for entry in entry_points(group="winnow.devices")}
    if name not in known:
        raise InputError(f'no device runtime "{name}" is installed', cure=nearest(name, known))
    device: Device = known[name].load()(timeout_s=timeout_s)
    return device
