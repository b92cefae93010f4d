"""The arguments of the RDNA attention kernels: those that a cell has no use for are compiled away."""

from __future__ import annotations

from winnow.families.attention_rdna.cells import WIDTH_STEP, Cell

FAMILY = "attention_rdna"

MAX_STRIDE = 1 << 21
"""Largest stride between rows and between columns, in elements: offsets inside a tile fit 32 bits."""

BLOCK_LIMIT = 1 << 10
"""No tile reaches this many queries or keys past the end of a sequence."""

ALIGNMENT = 16
"""Bytes of which every tensor's address is a multiple."""

_PLAIN: dict[str, str] = {
    "scale": "fp32",
    **dict.fromkeys(("num_query_heads", "num_k_heads", "num_v_heads", "seqlen_q", "seqlen_kv"), "i32"),
}
_STRIDES = {
    f"stride_{tensor}{dim}": "i64" if dim in "bh" else "i32" for tensor in "qkvo" for dim in ("b", "h", "s", "d")
}
_BIAS_STRIDES = {"stride_mb": "i64", "stride_mh": "i64", "stride_mq": "i32", "stride_mk": "i32"}


def _arguments(cell: Cell, dtype: str) -> dict[str, str | None]:
    """Every argument of the kernel in order, with its type; None where this cell has no such argument."""
    biased = cell.bias != "none"
    return {
        **dict.fromkeys("qkvo", f"*{dtype}"),
        "attn_mask": ("*fp32" if cell.bias == "fp32" else f"*{dtype}") if biased else None,
        **_PLAIN,
        "head_size_qk": None if cell.exact else "i32",
        "head_size_v": None if cell.exact else "i32",
        "band_low": "i32" if cell.mask == "band" else None,
        "band_high": None if cell.mask == "none" else "i32",
        **_STRIDES,
        **{name: type_ if biased else None for name, type_ in _BIAS_STRIDES.items()},
    }


def signature(cell: Cell, dtype: str) -> tuple[tuple[str, str], ...]:
    """The run-time arguments in order, with their Triton types.

    Pointers are to 16 aligned bytes. Query i sees key j where i + band_low <= j <= i + band_high. Strides are in
    elements, of batch, head, sequence and head element (of the bias: batch, head, query, key; 0 repeats).
    """
    return tuple((name, type_) for name, type_ in _arguments(cell, dtype).items() if type_ is not None)


def absent(cell: Cell, dtype: str) -> tuple[str, ...]:
    """The arguments that the kernel's text names and this cell's kernels do not take."""
    return tuple(name for name, type_ in _arguments(cell, dtype).items() if type_ is None)


def attributes(cell: Cell, dtype: str) -> tuple[tuple[str, str, int], ...]:
    """What the compiler may count on: 16 divides addresses and head widths."""
    return tuple(
        (name, "tt.divisibility", ALIGNMENT if type_.startswith("*") else WIDTH_STEP)
        for name, type_ in signature(cell, dtype)
        if type_.startswith("*") or name.startswith("head_size")
    )
