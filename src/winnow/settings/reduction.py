"""The manifest's `reduction:` section: cells, speed-only fields, noise and budget."""

from __future__ import annotations

from pydantic import Field

from winnow.strict.schema import StrictModel


class Performance(StrictModel):
    """A metadata field that changes speed only; `divides` names the problem field that it must divide."""

    divides: str | None = None


class Noise(StrictModel):
    """How far from the best still counts as equal: never below `floor`, and as wide as A/A arms differ.

    Sets of kernels whose geometric means differ by no more than `tie` are equal as well: what ships today decides.
    """

    floor: float = Field(default=0.02, ge=0)
    quantile: float = Field(default=0.95, gt=0, lt=1)
    ceiling: float = Field(default=0.10, gt=0)
    tie: float = Field(default=0.005, ge=0)


class ReductionBudget(StrictModel):
    """How many kernels a reduced selection may keep (None: as many as the graphs need)."""

    variants: int | None = Field(default=None, ge=1)


class Reduction(StrictModel):
    """The metadata fields that make a cell, those that only change speed, and what counts as equal."""

    cell: list[str]
    performance: dict[str, Performance]
    noise: Noise = Noise()
    budget: ReductionBudget = ReductionBudget()
