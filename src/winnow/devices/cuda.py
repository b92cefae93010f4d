"""NVIDIA GPUs as devices."""

from __future__ import annotations

from winnow.devices.gpu import GpuDevice


class CudaDevice(GpuDevice):
    """The first NVIDIA GPU of this machine. `timeout_s` is the time limit of one launch in seconds.

    Raises:
        InputError: no cuda-core, no driver or no GPU, or one that Winnow does not know.
    """

    def __init__(self, *, timeout_s: float = 20.0) -> None:
        super().__init__("winnow.devices.cuda_driver:CudaDriver", name="cuda", timeout_s=timeout_s)
