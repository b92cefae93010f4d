"""The manifest's `sweep:` section: how variants are measured."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from winnow.strict.schema import StrictModel


class Sweep(StrictModel):
    """How variants are measured. Times are in seconds; `controls` are A/A arms, the default measured again.

    `statistic` says which of a round's launches stands for the round: the median, or the minimum where whatever
    disturbs a launch can only add time to it.
    """

    rounds: int = Field(default=6, ge=2)
    min_seconds: float = Field(default=0.002, gt=0)
    min_launches: int = Field(default=3, ge=1)
    max_launches: int = Field(default=25, ge=1)
    controls: int = Field(default=2, ge=1)
    prune_factor: float = Field(default=1.5, gt=1)
    timeout_seconds: float = Field(default=20.0, gt=0)
    statistic: Literal["median", "minimum"] = "median"
    seed: int = 0
