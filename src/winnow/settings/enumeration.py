"""The manifest's `enumerate:` and `coverage:` sections: how a registry is asked, and how shapes files speak of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from winnow.settings.fields import Scalar
from winnow.strict.schema import StrictModel

Values = dict[str, Scalar]
Crossed = dict[str, Scalar | list[Scalar] | list[Values]]


class Candidates(StrictModel):
    """Which of the registry's candidates an engine takes, by arch, algorithm and name pattern."""

    arch: list[str]
    algorithm: str = "auto"
    names: list[str] = Field(default_factory=lambda: ["*"])


class BuilderRef(StrictModel):
    """Where a candidate's builder lives: module and function."""

    source: str
    builder: str


class SliceRule(StrictModel):
    """Authored knob values for the cells that `when` describes; lists in a knob set are crossed."""

    when: dict[str, Scalar] = Field(default_factory=dict)
    candidate: str = "*"
    knobs: list[Crossed]


class Allowance(StrictModel):
    """Cells whose kernels no budget limits, and why: those that `when` describes, of the candidates of this name."""

    when: Values = Field(default_factory=dict)
    candidate: str = "*"
    reason: str = Field(min_length=1)


class Budget(StrictModel):
    """How many kernels are too many, in all and in one cell of one candidate on one arch."""

    kernels: int | None = Field(default=None, ge=0)
    per_cell: int | None = Field(default=None, ge=0)
    allow: list[Allowance] = Field(default_factory=list)


class Enumerate(StrictModel):
    """How the registry is walked.

    `field_map` is where the fields of cells (and of `pin` and `fixed`) are spelled otherwise in requests: the names of
    all request fields that one of them sets. `accessors` names, for a knob that the registry leaves to the kernel's
    policy, the spec's attribute or method that says what the policy decides.
    """

    registry: str
    request: str
    candidates: Candidates
    builders: dict[str, BuilderRef] = Field(default_factory=dict)
    pin: Values = Field(default_factory=dict)
    fixed: Values = Field(default_factory=dict)
    cells: list[Crossed]
    field_map: dict[str, list[str]] = Field(default_factory=dict)
    space: Literal["slice", "production", "full"] = "slice"
    slice: list[SliceRule] = Field(default_factory=list)
    accessors: dict[str, str] = Field(default_factory=dict)
    budget: Budget = Budget()
