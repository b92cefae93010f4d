"""The registry's contract: what a kernel family offers, as data and pure functions.

Imports `spaces`. Never reads a file; a registry that never imports it works as well.
"""

from winnow.registry.candidate import KernelCandidate
from winnow.registry.capability import Capability, DimRelation, ShapeRange
from winnow.registry.kernel_id import DispatchResult, KernelId, make_kernel_id
from winnow.registry.registry import CandidateRegistry, PinRefused
from winnow.registry.request import OperatorRequest, opt_in_probe, pin_to_spec, selector_matches

__all__ = [
    "CandidateRegistry",
    "Capability",
    "DimRelation",
    "DispatchResult",
    "KernelCandidate",
    "KernelId",
    "OperatorRequest",
    "PinRefused",
    "ShapeRange",
    "make_kernel_id",
    "opt_in_probe",
    "pin_to_spec",
    "selector_matches",
]
