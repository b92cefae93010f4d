"""Dense attention in Triton for AMD and NVIDIA GPUs: fp16 and bf16, shared key heads, causal or full."""

from winnow.families.attention_dense.adapter import ADAPTER
from winnow.families.attention_dense.forward import CANDIDATES, FAMILY
from winnow.families.attention_dense.request import DenseAttentionRequest
from winnow.families.attention_dense.space import ARCHES
from winnow.registry import CandidateRegistry

__all__ = ["ADAPTER", "REGISTRY", "DenseAttentionRequest"]

REGISTRY = CandidateRegistry(
    family=FAMILY,
    known_arches=frozenset(ARCHES),
    dim_vocabulary=frozenset({"batch", "num_query_heads", "num_kv_heads", "seqlen_q", "seqlen_kv", "head_size"}),
)
for _candidate in CANDIDATES:
    REGISTRY.register(_candidate)
