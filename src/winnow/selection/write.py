"""A selection as text: one line a shape and an arm, the rest indented, the same bytes for the same data."""

from __future__ import annotations

import io
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

_INLINE_PARENTS = (("bindings",), ("vocabulary",))
_INLINE = (
    "arch",
    "metadata",
    "spec_order",
    "metadata_fields",
    "matcher_only_fields",
    "knobs",
    "behavior_notes",
    "policy_knobs",
)


def selection_text(record: dict[str, Any]) -> str:
    """The YAML text of a selection record."""
    yaml = YAML()
    yaml.width = 1 << 20
    yaml.indent(mapping=2, sequence=2, offset=0)
    stream = io.StringIO()
    yaml.dump(_styled(record, ()), stream)
    return stream.getvalue()


def _styled(value: Any, path: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        mapping = CommentedMap((key, _styled(item, (*path, key))) for key, item in value.items())
        if _inline(path):
            mapping.fa.set_flow_style()
        return mapping
    if isinstance(value, list):
        sequence = CommentedSeq(_styled(item, (*path, "[]")) for item in value)
        if path[-1] in _INLINE or (value and not isinstance(value[0], (dict, list))):
            sequence.fa.set_flow_style()
        return sequence
    return value


def _inline(path: tuple[str, ...]) -> bool:
    """Mappings on one line: a shape, an arm of a knob set, a kmd field, a binding, a pack's common source."""
    if "shapes" in path:
        return path[-1] != "shapes"
    if "knob_sets" in path:
        return path[-1] == "[]" or "[]" in path[path.index("knob_sets") :]
    return path[-1:] == ("kernel_defaults",) or path[-2:] == ("kmd_fields", "[]") or path[-2:-1] in _INLINE_PARENTS
