"""Attention for RDNA GPUs: objects with run-time head widths, one set a generation."""

from winnow.families.attention_rdna.abi import FAMILY
from winnow.families.attention_rdna.adapter import ADAPTER
from winnow.families.attention_rdna.forward import CANDIDATE
from winnow.families.attention_rdna.request import RdnaAttentionRequest
from winnow.families.attention_rdna.space import ARCHES
from winnow.registry import CandidateRegistry

__all__ = ["ADAPTER", "REGISTRY", "RdnaAttentionRequest"]

REGISTRY = CandidateRegistry(
    family=FAMILY,
    known_arches=frozenset(ARCHES),
    dim_vocabulary=frozenset(
        {
            "batch",
            "num_query_heads",
            "num_k_heads",
            "num_v_heads",
            "seqlen_q",
            "seqlen_kv",
            "head_size_qk",
            "head_size_v",
            "width",
        }
    ),
)
REGISTRY.register(CANDIDATE)
