"""AMD GPUs as devices."""

from __future__ import annotations

from winnow.devices.gpu import GpuDevice


class HipDevice(GpuDevice):
    """The first AMD GPU of this machine. `timeout_s` is the time limit of one launch in seconds.

    Raises:
        InputError: no hip-python, no ROCm or no GPU, or one that Winnow does not know.
    """

    def __init__(self, *, timeout_s: float = 20.0) -> None:
        super().__init__("winnow.devices.hip_driver:HipDriver", name="hip", timeout_s=timeout_s)
