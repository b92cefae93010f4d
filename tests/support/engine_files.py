"""Manifests for tests, as text that a test may edit."""

from __future__ import annotations

from pathlib import Path

FOREIGN_MANIFEST = """\
engine: {name: "test:RowCopy", sdk_version: "1.0.0", heuristic: native, knobs: [tile]}
kernel_source_kind: c
family: copy
kmd_fields:
- {name: dtype, type: string}
- {name: width, type: int}
- {name: tile, type: int}
- {name: unroll, type: int, default_value: 1}
- {name: lanes, type: int}
specialization:
  metadata_fields: [dtype, width, tile, unroll, lanes]
  bindings:
    dtype: {field: dtype}
    width: {field: width}
    tile: {field: tile}
    unroll: {field: unroll}
    lanes: {method: lanes}
  vocabulary: {dtype: {fp32: FLOAT, fp16: HALF}}
enumerate:
  registry: foreign_registry:REGISTRY
  request: foreign_registry:CopyRequest
  candidates: {arch: [gfx942, gfx950]}
  builders: {copy_tiled: {source: foreign_registry, builder: build_copy}}
  cells:
  - {dtype: [fp32, fp16], width: [64, 96]}
  slice:
  - {when: {width: 64}, knobs: [{tile: [16, 64], unroll: [1, 2]}]}
  - {when: {width: 96, arch: gfx950}, knobs: [{tile: [32, 64]}]}
  - {when: {width: 96, arch: gfx942}, knobs: [{tile: 32}, {tile: 32, unroll: 1}]}
match: {dtype: equal, width: equal}
launch_surface: {grid: ["ceil(width / tile)", 1, 1]}
reduction:
  cell: [dtype, width]
  performance: {tile: {divides: width}, unroll: {}, lanes: {}}
"""


POLICY_MANIFEST = """\
engine: {name: "test:SumRows", sdk_version: "1.0.0", knobs: [block]}
kernel_source_kind: c
family: sum
kmd_fields:
- {name: dtype, type: string}
- {name: block, type: int}
- {name: persistent, type: int}
specialization:
  metadata_fields: [dtype, block, persistent]
  bindings: {dtype: {field: dtype}, block: {field: block}, persistent: {field: persistent}}
  vocabulary: {dtype: {fp32: FLOAT}}
enumerate:
  registry: foreign_policy:REGISTRY
  request: foreign_policy:SumRequest
  candidates: {arch: [gfx950]}
  fixed: {rows: 256}
  cells:
  - {dtype: [fp32, fp16]}
  space: production
  slice:
  - {knobs: [{block: 32}]}
  accessors: {persistent: resolved_persistent}
match: {dtype: equal, rows: any}
launch_surface: {grid: [1, 1, 1]}
reduction:
  cell: [dtype]
  performance: {block: {}, persistent: {}}
"""


def foreign_engine(root: Path, text: str = FOREIGN_MANIFEST) -> Path:
    """Write a manifest over the foreign registry; returns its path."""
    path = root / "engine.yaml"
    path.write_text(text)
    return path
