"""The dense attention registry: what it offers where, what it refuses and why, and the catalog that it regenerates."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from winnow.compilers.triton import compile_triton, find_triton
from winnow.families.attention_dense import REGISTRY, DenseAttentionRequest
from winnow.families.attention_dense.estimates import padded_lds_bytes
from winnow.families.attention_dense.forward import build_attention_dense, supports_attention_dense
from winnow.families.attention_dense.space import ALGORITHM, ARCHES
from winnow.families.attention_dense.spec import AttentionDenseSpec
from winnow.pack.resources import resource_problem
from winnow.registry.testing import assert_tuning_contract
from winnow.selection.document import load_selection
from winnow.selection.enumerate import enumerate_variants
from winnow.selection.expand import expand
from winnow.settings.manifest import load_manifest

ENGINE = Path(str(resources.files("winnow"))) / "engines" / "attention_gfx950"
REFERENCE = Path(__file__).parent.parent / "data" / "hipdnn" / "gfx950_attention_dense.yaml"


def request(arch: str = "gfx950", **changes: Any) -> DenseAttentionRequest:
    sizes = {"num_query_heads": 32, "num_kv_heads": 8, "seqlen_q": 512, "seqlen_kv": 512, "head_size": 128}
    return DenseAttentionRequest(**{"arch": arch, "dtype": "bf16", **sizes, **changes})


def candidate_of(asked: DenseAttentionRequest) -> Any:
    (candidate,) = REGISTRY.for_arch(asked.arch)
    return candidate


@pytest.mark.parametrize("arch", ARCHES)
def test_candidates_keep_the_tuning_contract(arch: str) -> None:
    for asked in (request(arch, causal=True), request(arch, head_size=64, num_kv_heads=32)):
        checked = assert_tuning_contract(
            candidate_of(asked),
            [asked],
            other_requests=[replace(asked, batch=3, seqlen_q=77)],
            default_knobs=[{}, dict(candidate_of(asked).select_spec(asked).knobs)],
            refused_knobs=[{"block_m": 48}, {"block_n": 256, "block_m": 128}, {"no_such_knob": 1}],
        )
        assert checked["specs"] >= 5
        assert checked["portable"] == checked["replays"]


@pytest.mark.parametrize(
    ("arch", "inert"),
    [
        ("gfx950", {"kpack": 2}),
        ("gfx1201", {"kpack": 2, "matrix_size": 16}),
        ("gfx1250", {"kpack": 2, "matrix_size": 32}),
        ("sm_90", {"kpack": 2, "matrix_size": 16, "waves_per_eu": 4}),
    ],
)
def test_knobs_without_effect_on_a_target_make_no_second_kernel(arch: str, inert: dict[str, int]) -> None:
    """Else a sweep would measure one binary under several names and call the noise a winner."""
    asked = request(arch)
    candidate = candidate_of(asked)
    default = candidate.select_spec(asked)
    pinned = candidate.select_spec(replace(asked, tuning_knobs=tuple(sorted(inert.items()))))
    assert pinned == default
    space = candidate.space(asked)
    for knob in inert:
        assert {point[knob] for point in space.sample(40, 0)} == {getattr(default, knob)}
    built = dict(build_attention_dense(default, arch=arch).options)
    options = {"matrix_size": "matrix_instr_nonkdim"}
    assert not {options.get(knob, knob) for knob in inert} & set(built)


def test_waves_that_a_tile_has_anyway_have_one_name() -> None:
    asked = request()
    usual = candidate_of(asked).select_spec(replace(asked, tuning_knobs=(("block_m", 256), ("num_warps", 8))))
    assert (usual.num_warps, usual.waves) == (0, 8)


@pytest.mark.parametrize(("head_size", "a_key"), [(128, 1184), (64, 528)])
def test_padded_buffers_are_the_published_formula(head_size: int, a_key: int) -> None:
    for block_n in (32, 64, 256):
        assert padded_lds_bytes(head_size, block_n) == a_key * block_n


def spec(**changes: Any) -> AttentionDenseSpec:
    asked = request(**{name: changes.pop(name) for name in ("head_size", "num_kv_heads", "dtype") if name in changes})
    default = replace(candidate_of(request()).select_spec(request()), head_size=asked.head_size)
    return replace(default, num_kv_heads=asked.num_kv_heads, dtype=asked.dtype, **changes)


@pytest.mark.parametrize(
    ("changes", "arch", "reason"),
    [
        (
            {"block_m": 256, "block_n": 256},
            "gfx950",
            "two padded buffers of keys and values fit the LDS: head_size=128, block_n=256, lds_bytes=163840, "
            "double_buffered=1",
        ),
        (
            {"block_m": 256, "block_n": 256},
            "gfx942",
            "the tile's queries, weights, keys and values fit the LDS: head_size=128, block_m=256, block_n=256, "
            "num_stages=1, operands_in_lds=0, lds_bytes=65536",
        ),
        ({"block_n": 7}, "gfx950", "block_n=7 is not one of 32, 64, 128, 256"),
        (
            {"ragged": True},
            "gfx950",
            "neither ragged lengths nor sliding windows are written: sliding_window=0, ragged=True",
        ),
        (
            {"num_kv_heads": 7},
            "gfx950",
            "query heads share key heads evenly: num_query_heads=32, num_kv_heads=7",
        ),
        (
            {"dtype": "fp32"},
            "gfx950",
            "kernels are written for fp16 and bf16 and heads of 64 and 128 elements: dtype='fp32', head_size=128",
        ),
        (
            {"block_m": 256, "num_warps": 2},
            "gfx1201",
            "outputs, scores and queries are at most a quarter more than the registers: head_size=128, block_m=256, "
            "block_n=64, num_warps=2, num_stages=1, waves_per_eu=0, wave_size=32, operand_copies=1, "
            "registers=256, register_file=1024",
        ),
        ({}, "gfx90a", "attention_dense is not written for gfx90a"),
    ],
)
def test_specs_are_refused_in_words(changes: dict[str, Any], arch: str, reason: str) -> None:
    asked = spec(**changes)
    assert supports_attention_dense(asked, arch=arch) == (False, reason)
    with pytest.raises(ValueError, match=r"^\S"):
        build_attention_dense(asked, arch=arch)


def test_lengths_and_batch_are_arguments_and_heads_are_not() -> None:
    """One binary serves every length: that is what keeps the catalog at 840 kernels."""
    one, other = (replace(spec(), batch=batch, seqlen_q=batch, seqlen_kv=batch) for batch in (1, 77))
    assert build_attention_dense(one, arch="gfx950") == build_attention_dense(other, arch="gfx950")
    assert build_attention_dense(one, arch="gfx950") != build_attention_dense(
        replace(one, num_kv_heads=4), arch="gfx950"
    )


def test_the_registry_offers_no_fewer_tiles_than_the_published_catalog() -> None:
    enumeration = enumerate_variants(load_manifest(ENGINE / "engine.yaml"))
    assert enumeration.counts() == {"selected": 840, "refused": 84, "duplicate": 0, "over budget": 0}
    refused = {entry.reason.partition(":")[0] for entry in enumeration.ledger if entry.outcome == "refused"}
    assert refused == {"two padded buffers of keys and values fit the LDS"}


def test_the_authored_selection_is_the_published_catalog_but_for_the_sources() -> None:
    ours, theirs = (
        {kernel.name: (dict(kernel.metadata), kernel.arch, kernel.priority) for kernel in expand(load_selection(path))}
        for path in (ENGINE / "selection.yaml", REFERENCE)
    )
    assert len(ours) == 840
    assert ours == theirs


def test_every_space_can_be_counted() -> None:
    counts = {arch: ALGORITHM.space(request(arch)).count() for arch in ARCHES}
    assert min(counts.values()) > 10
    assert counts["gfx942"] > counts["gfx1201"]


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHES)
def test_the_default_of_every_target_compiles_and_fits_it(arch: str) -> None:
    """With tensors' names in the object, matrix instructions in the code, and no spills."""
    asked = request(arch, causal=True)
    spec = candidate_of(asked).select_spec(asked)
    code = compile_triton(build_attention_dense(spec, arch=arch), arch, find_triton())
    assert resource_problem(code.resources, arch, {"vgpr_spills": 0, "scratch_bytes": 0}) is None
    assert [argument.name for argument in code.signature][:8] == [*"qkvo", "scale", "batch", "seqlen_q", "seqlen_kv"]
    assert code.resources["matrix_instructions"] > 0
    assert code.resources["threads_per_block"] == candidate_of(asked).block(spec)[0]
