"""A selection of a few kernels, as text, and the catalog that it generates."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from winnow.descriptors.generate import generate
from winnow.descriptors.tree import Catalog
from winnow.selection.document import parse_selection
from winnow.selection.expand import expand

SMALL = """\
engine: {name: "test:Copy", sdk_version: "1.0.0", heuristic: native, knobs: [tile]}
kernel_source_kind: rocke
kmd_fields:
- {name: dtype, type: string}
- {name: tile, type: int}
- {name: fast, type: int, default_value: 0}
specialization:
  metadata_fields: [dtype, tile, fast]
  bindings: {dtype: {field: dtype}, tile: {field: tile}, fast: {field: fast}}
packs:
- name: main
  arch: [ARCH]
  kernels:
"""


def kernel(name: str, *, tile: int = 4, arch: str = "", spec: str = "", **metadata: Any) -> str:
    said = json.dumps({"dtype": "BF16", "tile": tile, **metadata})
    source = f"{{kind: rocke, source: m.py, builder: b, spec: {{dtype: bf16, tile: {tile}{spec}}}}}"
    return f"  - {{name: {name}, kernel_source: {source}, metadata: {said}{arch and f', arch: {arch}'}}}\n"


def made(*kernels: str, arch: str = "gfx950", change: Callable[[str], str] = str) -> Catalog:
    text = change(SMALL.replace("ARCH", arch) + "".join(kernels))
    selection = parse_selection(text, "s.yaml")
    return generate(selection.selection.header(), expand(selection))
