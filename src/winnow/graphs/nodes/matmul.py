"""Matrix product."""

from __future__ import annotations

from winnow.graphs.kinds import NodeKind

MATMUL = NodeKind("MatmulAttributes", inputs=("a", "b"), outputs=("c",))
