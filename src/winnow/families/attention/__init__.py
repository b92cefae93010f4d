"""The attention family: fp32 softmax attention on the CPU, for prefill and for decode."""

from winnow.families.attention.abi import FAMILY
from winnow.families.attention.adapter import ADAPTER
from winnow.families.attention.decode import CANDIDATE as _DECODE
from winnow.families.attention.prefill import CANDIDATE as _PREFILL
from winnow.families.attention.request import AttentionRequest
from winnow.families.cpu import CPU_ARCHES
from winnow.registry import CandidateRegistry

__all__ = ["ADAPTER", "REGISTRY", "AttentionRequest"]

REGISTRY = CandidateRegistry(
    family=FAMILY,
    known_arches=frozenset(CPU_ARCHES),
    dim_vocabulary=frozenset({"batch", "num_query_heads", "num_kv_heads", "seqlen_q", "seqlen_kv", "head_size"}),
)
REGISTRY.register(_DECODE)
REGISTRY.register(_PREFILL)
