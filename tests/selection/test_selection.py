"""A selection must mean the same kernels for us as for the tools that made the format known."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from winnow.errors import InputError, Place
from winnow.selection.author import author
from winnow.selection.document import load_selection, parse_selection
from winnow.selection.expand import expand
from winnow.selection.kernel import Kernel

DENSE = Path(__file__).parents[1] / "data" / "hipdnn" / "gfx950_attention_dense.yaml"

HEADER = """\
engine: {name: "t:Example", sdk_version: "1.0.0", knobs: [block_n]}
kernel_source_kind: rocke
kmd_fields:
- {name: dtype, type: string}
- {name: block_n, type: int}
- {name: causal, type: int, default_value: 0}
- {name: scale, type: float, default_value: 1.0}
specialization:
  metadata_fields: [dtype, block_n, causal, scale]
  bindings: {dtype: {field: dtype}, block_n: {field: block_n}, causal: {field: causal}, scale: {field: scale}}
  vocabulary: {dtype: {bf16: BF16, fp16: FP16}}
"""

VARIANTS = """\
packs:
- name: main
  arch: [gfx950]
  kernel_defaults: {kind: rocke, source: kernels/x.py, builder: build_x, priority: 7}
  variants:
  - name: "x.{dtype}_bn{block_n}_c{causal}_{tag}.gfx950"
    spec_defaults: {causal: false, use_sinks: false}
    knob_sets:
      tiles: [{block_n: 64}, {block_n: 128, tag: wide}]
    shapes:
    - {dtype: bf16, knobs: tiles}
    - {dtype: fp16, causal: true, knobs: tiles, resolved: {scale: 2}}
"""


def kernels(text: str):
    return expand(parse_selection(text, "s.yaml"))


def refusal(*edits: tuple[str, str], body: str = VARIANTS) -> str:
    text = HEADER + body
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(InputError) as caught:
        kernels(text)
    return str(caught.value)


def test_the_dense_catalog_expands_to_its_840_kernels():
    expanded = expand(load_selection(DENSE))
    assert len(expanded) == len({kernel.name for kernel in expanded}) == 840
    first = expanded[0]
    assert first.name == "attention_dense.bf16_d64_hq8_kv1_c1_bm256_bn64.gfx950"
    assert first.metadata == {
        "dtype": "BF16",
        "head_size": 64,
        "num_query_heads": 8,
        "num_kv_heads": 1,
        "causal": 1,
        "ragged": 0,
        "sliding_window": 0,
        "batch": 1,
        "seqlen_q": 512,
        "seqlen_kv": 512,
        "block_m": 256,
        "block_n": 64,
    }
    assert list(first.spec)[:3] == ["dtype", "head_size", "num_query_heads"]
    assert first.spec["causal"] is True
    assert first.kernel_source["builder"] == "build_attention_dense"


def test_shapes_times_arms_in_order_with_an_empty_tag_removed():
    expanded = kernels(HEADER + VARIANTS)
    assert [kernel.name for kernel in expanded] == [
        "x.bf16_bn64_c0.gfx950",
        "x.bf16_bn128_c0_wide.gfx950",
        "x.fp16_bn64_c1.gfx950",
        "x.fp16_bn128_c1_wide.gfx950",
    ]
    assert expanded[3].spec == {"causal": True, "use_sinks": False, "dtype": "fp16", "block_n": 128}
    assert expanded[3].metadata == {"dtype": "FP16", "block_n": 128, "causal": 1, "scale": 2.0}
    assert expanded[0].priority == 7
    assert "scale" not in expanded[0].metadata


def test_a_kernel_knows_the_line_of_its_arm():
    assert kernels(HEADER + VARIANTS)[1].place.line == HEADER.count("\n") + 9


def test_axes_are_crossed_in_sorted_order():
    body = """\
packs:
- name: main
  arch: [gfx950]
  axes: {block_n: [64, 32], causal: [0, 1]}
  kernel_template: {name: t, kernel_source: {kind: hip, source: a.hip}, metadata: {dtype: BF16}}
"""
    expanded = kernels(HEADER + body)
    assert [kernel.name for kernel in expanded] == [f"t.block_n{n}_causal{c}" for n in (64, 32) for c in (0, 1)]
    assert expanded[1].spec == {"block_n": 64, "causal": 1}


def test_ordinals_keep_their_padding():
    edits = [
        ("_{tag}.gfx950", "_{ordinal}.gfx950"),
        ("{block_n: 128, tag: wide}", "{block_n: 128, ordinal_offset: 1}"),
        ("dtype: bf16, knobs", 'dtype: bf16, ordinal: "008", knobs'),
        ("dtype: fp16,", "dtype: fp16, ordinal: 10,"),
    ]
    text = HEADER + VARIANTS
    for old, new in edits:
        text = text.replace(old, new)
    assert [kernel.name.split("_")[-1] for kernel in kernels(text)] == [
        "008.gfx950",
        "009.gfx950",
        "10.gfx950",
        "11.gfx950",
    ]


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        (
            [("dtype: bf16, knobs: tiles", "dtype: bf16, knobs: tile")],
            's.yaml:22: packs[0].variants[0].shapes[0].knobs: no knob set "tile"\n  cure: did you mean "tiles"?',
        ),
        (
            [("dtype: bf16, knobs", "dtype: bf61, knobs")],
            's.yaml:22: packs[0].variants[0].shapes[0]: "bf61" is not a spelling of dtype that the vocabulary maps\n'
            '  cure: did you mean "bf16"?',
        ),
        (
            [("{block_n: 64}", "{block_m: 64}")],
            's.yaml:22: packs[0].variants[0].shapes[0]: no value for the metadata field "block_n"',
        ),
        (
            [("{block_n: 64}", "{block_m: 64}"), ("    knob_sets:", "    policy_knobs: [block_n]\n    knob_sets:")],
            's.yaml:23: packs[0].variants[0].shapes[0]: no value for the metadata field "block_n" '
            "(the kernel's policy decides it: say its value in resolved)",
        ),
        (
            [("{block_n: 64}", "{block_n: wide}")],
            "s.yaml:22: packs[0].variants[0].shapes[0]: metadata field \"block_n\" is of type int, the value is 'wide'",
        ),
        (
            [("resolved: {scale: 2}", "resolved: {scael: 2}")],
            's.yaml:23: packs[0].variants[0].shapes[1]: "scael" is not a kmd field\n  cure: did you mean "scale"?',
        ),
        (
            [("tag: wide", "tag: ''"), ("block_n: 128", "block_n: 64")],
            's.yaml:20: packs[0].variants[0].knob_sets.tiles[1]: two kernels are called "x.bf16_bn64_c0.gfx950" '
            "(the first from s.yaml:20: packs[0].variants[0].knob_sets.tiles[0])\n"
            "  cure: give each a distinct knob value, or a tag that the name template shows",
        ),
        (
            [("bn{block_n}", "bn{blockn}")],
            "s.yaml:22: packs[0].variants[0].shapes[0]: the name template "
            '"x.{dtype}_bn{blockn}_c{causal}_{tag}.gfx950" cannot be filled: blockn\n  cure: did you mean "block_n"?',
        ),
        (
            [("spec_defaults:", "spec_order: [dtype, block_n, causal]\n    spec_defaults:")],
            's.yaml:23: packs[0].variants[0].shapes[0]: spec field "use_sinks" is not in spec_order\n'
            "  cure: known: block_n, causal, dtype",
        ),
        (
            [("knobs: [block_n]", "knobs: [dtype]")],
            's.yaml:1: engine.knobs[0]: "dtype" is not a kmd field of type int',
        ),
        (
            [("metadata_fields: [dtype, block_n, causal, scale]", "metadata_fields: [dtype, block_n, causal]")],
            's.yaml:8: specialization: kmd field "scale" is neither in metadata_fields nor in matcher_only_fields',
        ),
        (
            [("kernel_source_kind: rocke", "kernel_source_kind: rock")],
            's.yaml:2: kernel_source_kind: no installed compiler takes kernel sources of kind "rock" '
            '(did you mean "rocke"?)',
        ),
        (
            [("  variants:", "  variant:")],
            's.yaml:16: packs[0].variant: unknown key "variant"\n  cure: did you mean "variants"?',
        ),
    ],
)
def test_mistakes_are_named_with_their_line(edits, message):
    assert refusal(*edits) == message


def test_kernel_arch_outside_its_pack_is_refused():
    body = """\
packs:
- name: main
  arch: [gfx950]
  kernels:
  - {name: a, kernel_source: {kind: hip}, metadata: {dtype: BF16, block_n: 64}, arch: [gfx942]}
"""
    assert refusal(body=body) == ("s.yaml:16: packs[0].kernels[0]: arch \"gfx942\" is not one of the pack's ['gfx950']")


def test_pack_without_kernels_is_refused():
    assert refusal(body="packs:\n- {name: main, arch: [gfx950]}\n") == 's.yaml:13: packs[0]: pack "main" has no kernels'


def test_the_dense_selection_survives_being_factorised_in_fewer_lines_than_its_own():
    loaded = load_selection(DENSE)
    expanded = expand(loaded)
    text = author(loaded.selection, expanded)
    assert len(text.splitlines()) <= len(DENSE.read_text().splitlines())
    again = expand(parse_selection(text, "again.yaml"))
    assert [(k.name, k.kernel_source, k.metadata, list(k.spec)) for k in again] == [
        (k.name, k.kernel_source, k.metadata, list(k.spec)) for k in expanded
    ]


def test_tags_survive_being_factorised():
    loaded = parse_selection(HEADER + VARIANTS, "s.yaml")
    text = author(loaded.selection, expand(loaded))
    assert "tag: wide" in text


records = st.lists(
    st.tuples(
        st.sampled_from(["bf16", "fp16"]),
        st.integers(0, 3),
        st.booleans(),
        st.one_of(st.none(), st.just(True)),
        st.floats(0.5, 2.0).map(lambda value: round(value, 1)),
    ),
    min_size=1,
    max_size=12,
    unique=True,
)


@settings(deadline=None, max_examples=40)  # a busy machine is no failure
@given(records)
def test_whatever_is_factorised_expands_to_itself(points):
    part = parse_selection(HEADER + VARIANTS, "s.yaml").selection
    kernels = [
        Kernel(
            name=f"k.{dtype}_bn{block}_{'c' if causal else 'f'}_s{scale}_{index}",
            pack="p",
            arch=("gfx950",),
            source={"kind": "rocke", "source": "s", "builder": "b"},
            spec={"dtype": dtype, "block_n": block, "causal": causal, "sinks": sinks},
            metadata={"dtype": dtype.upper(), "block_n": block, "causal": int(causal), "scale": scale},
            priority=3,
            place=Place("x"),
        )
        for index, (dtype, block, causal, sinks, scale) in enumerate(points)
    ]
    assert len(expand(parse_selection(author(part, kernels), "s.yaml"))) == len(kernels)
