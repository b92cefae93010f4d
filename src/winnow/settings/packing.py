"""The manifest's `pack:` section: what a packed object may need at most."""

from __future__ import annotations

from pydantic import Field

from winnow.strict.schema import StrictModel


class PackLimits(StrictModel):
    """What an object may need at most, beside what its target has; None for no limit. Scratch is in bytes a lane."""

    vgpr_spills: int | None = Field(default=None, ge=0)
    sgpr_spills: int | None = Field(default=None, ge=0)
    scratch_bytes: int | None = Field(default=None, ge=0)

    @property
    def stated(self) -> dict[str, int]:
        """The limits that there are, by the resource's name."""
        return self.model_dump(exclude_none=True)
