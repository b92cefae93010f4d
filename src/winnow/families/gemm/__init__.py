"""The GEMM family: fp32 products on the CPU, blocked and skinny."""

from winnow.families.cpu import CPU_ARCHES
from winnow.families.gemm.abi import FAMILY
from winnow.families.gemm.adapter import ADAPTER
from winnow.families.gemm.blocked import CANDIDATE as _BLOCKED
from winnow.families.gemm.request import GemmRequest
from winnow.families.gemm.skinny import CANDIDATE as _SKINNY
from winnow.registry import CandidateRegistry

__all__ = ["ADAPTER", "REGISTRY", "GemmRequest"]

REGISTRY = CandidateRegistry(
    family=FAMILY,
    known_arches=frozenset(CPU_ARCHES),
    dim_vocabulary=frozenset({"batch", "M", "N", "K"}),
)
REGISTRY.register(_SKINNY)
REGISTRY.register(_BLOCKED)
