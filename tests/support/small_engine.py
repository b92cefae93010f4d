"""A real engine in seconds: a few kernels of the built-in GEMM engine, packed for the machine that runs the tests."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from winnow.steps.enumerate import selection_of
from winnow.steps.generate import write_catalog
from winnow.steps.pack import pack_engine

from winnow.descriptors.tree import read_catalog
from winnow.engine_dir import EngineDir
from winnow.selection.enumerate import enumerate_variants
from winnow.targets.cpu import host_level

GRAPHS = (
    "bert_base_attention_context_encode_m128",
    "gpt2_mlp_c_fc_decode_m1",
    "qwen2_0_5b_k_proj_prefill_m128",
    "qwen2_0_5b_q_proj_decode_m1",
    "vit_b16_classifier_encode_m8",
)

SLICE = """\
  slice:
  - candidate: gemm_cpu_blocked
    knobs:
    - {edge: [1, 0], block_m: 48, block_n: 64, block_k: 128, reg_m: 2, reg_v: 2, vec: 4}
    - {edge: 1, block_m: 48, block_n: 64, block_k: 128, reg_m: 4, reg_v: 2, vec: 4}
  - candidate: gemm_cpu_skinny
    knobs:
    - {rows: [1, 8], streams: 1, block: 1024, vec: 4, unroll: 1}
"""


def manifest_text(arches: list[str]) -> str:
    """The GEMM engine's manifest with a slice of a few kernels that every level can run, for these arches."""
    text = (files("winnow.engines") / "gemm_cpu" / "engine.yaml").read_text(encoding="utf-8")
    text = re.sub(r"  slice:\n.*?(?=  budget:)", SLICE, text, flags=re.DOTALL)
    return re.sub(r"candidates: {arch: \[.*?\]}", f"candidates: {{arch: [{', '.join(arches)}]}}", text)


def make_small_engine(root: Path) -> Path:
    """Enumerate, generate and pack below `root`; returns it."""
    corpus = files("winnow.engines") / "gemm_cpu" / "corpus"
    (root / "corpus").mkdir(parents=True)
    (root / "engine.yaml").write_text(manifest_text([host_level()]))
    for name in GRAPHS:
        (root / "corpus" / f"{name}.json").write_text((corpus / f"{name}.json").read_text())
    engine = EngineDir(root / "engine.yaml")
    engine.selection_file.write_text(selection_of(engine.manifest, enumerate_variants(engine.manifest)))
    write_catalog(engine.manifest.manifest, engine.selection, engine.catalog)
    pack_engine(engine, read_catalog(engine.catalog), [host_level()], engine.archive, jobs=2)
    return root
