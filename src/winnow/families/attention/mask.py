"""What the options of an SDPA node mean to the kernels: a causal diagonal, or a reason to decline."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from winnow.families.adapter import Declined

# Options that ask for something no kernel does, unless they have one of these values.
_NEUTRAL: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "generate_stats": (None, False),
        "alibi_mask": (None, False),
        "padding_mask": (None, False),
        "dropout_probability": (None, 0, 0.0),
        "left_bound": (None,),
        "max_seq_len_kv": (None,),
        "mma_core_mode": (None, "UNSET", "float"),
        "implementation": (None, "AUTO"),
    }
)


def refuse_options(options: Mapping[str, Any], served: frozenset[str] = frozenset()) -> None:
    """Raises Declined when the node asks for more than a scale, a causal mask and the options that are `served`."""
    for name, neutral in _NEUTRAL.items():
        value = options.get(name)
        if value not in neutral and name not in served:
            raise Declined(f"{name} is {value!r}; the kernels do not have that")


def causal_offset(options: Mapping[str, Any], seqlen_q: int, seqlen_kv: int) -> int | None:
    """The number c for which query i sees key j where j <= i + c; None where nothing is masked.

    The diagonal starts at the first query and key (top left), or ends at the last ones (bottom right); a
    `right_bound` moves it, and is a causal mask by itself.
    """
    bottom_right = bool(options.get("causal_mask_bottom_right"))
    bound = options.get("right_bound")
    if not (options.get("causal_mask") or bottom_right or bound is not None):
        return None
    corner = diagonal_corner(options, seqlen_q, seqlen_kv)
    if bound is not None and bound < 0:
        raise Declined(f"right_bound is {bound}; the kernels take 0 or more")
    if bound and (options.get("causal_mask") or bottom_right):
        raise Declined(f"a causal mask together with right_bound {bound}")
    return min(corner + (bound or 0), seqlen_kv - 1)


def diagonal_corner(options: Mapping[str, Any], seqlen_q: int, seqlen_kv: int) -> int:
    """The number c for which query i and key i + c are on the diagonal: 0 at the top left, else where it ends."""
    aligned = options.get("diagonal_alignment") or "TOP_LEFT"
    if aligned not in ("TOP_LEFT", "BOTTOM_RIGHT"):
        raise Declined(f"diagonal_alignment is {aligned!r}; the kernels know TOP_LEFT and BOTTOM_RIGHT")
    bottom_right = bool(options.get("causal_mask_bottom_right")) or aligned == "BOTTOM_RIGHT"
    return seqlen_kv - seqlen_q if bottom_right else 0
