"""An RDNA engine of two small kernels that the interpreter runs in seconds."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from winnow.steps.enumerate import selection_of

from winnow.engine_dir import EngineDir
from winnow.selection.enumerate import enumerate_variants

CELLS = """\
  cells:
  - {dtype: fp16, width: 64, width_step: 16, mask: band, bias: none}
  space: slice
  slice:
  - knobs: [{block_m: [16, 32], block_n: 32, num_warps: 2}]
"""


def make_rdna_engine(root: Path) -> Path:
    """A manifest and a selection below `root`; returns the manifest."""
    text = (files("winnow.engines") / "attention_gfx11" / "engine.yaml").read_text(encoding="utf-8")
    root.mkdir()
    manifest = root / "engine.yaml"
    manifest.write_text(re.sub(r"  cells:\n.*?(?=  budget:)", CELLS, text, flags=re.DOTALL))
    engine = EngineDir(manifest)
    engine.selection_file.write_text(selection_of(engine.manifest, enumerate_variants(engine.manifest)))
    return manifest
