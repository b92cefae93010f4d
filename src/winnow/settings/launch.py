"""The manifest's `launch_surface:` section."""

from __future__ import annotations

from pydantic import Field

from winnow.strict.schema import StrictModel


class LaunchSurface(StrictModel):
    """Grid and block as expressions over the problem's fields and the kernel's metadata."""

    grid: tuple[str | int, str | int, str | int] = Field(strict=False)
    block: tuple[str | int, str | int, str | int] = Field(strict=False, default=(1, 1, 1))
