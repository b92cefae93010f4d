"""A kernel's name from its variant group's template."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

from winnow.errors import InputError, Place, nearest
from winnow.selection.naming import token


class NameTemplate:
    """A kernel name template: `str.format` over spec fields, `md_<field>`, `ordinal` and `tag`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.without_tag = text.replace("_{tag}", "", 1) if "_{tag}" in text else text.replace("{tag}_", "", 1)
        self.without_tag = self.without_tag.replace("{tag}", "")

    def fill(
        self,
        spec: Mapping[str, Any],
        metadata: Mapping[str, Any],
        shape: Mapping[str, Any],
        arm: Mapping[str, Any],
        place: Place,
    ) -> str:
        values = {name: token(value) for name, value in spec.items()}
        values |= {f"md_{name}": token(value) for name, value in metadata.items()}
        if "ordinal" in shape:
            values["ordinal"] = _ordinal(shape["ordinal"], arm.get("ordinal_offset", 0))
        tag = arm.get("tag", "")
        try:
            return (self.text if tag else self.without_tag).format(**values, tag=tag)
        except (KeyError, IndexError, ValueError) as error:
            missing = str(error.args[0]) if isinstance(error, KeyError) else None
            known = (
                [name for _, name, _, _ in string.Formatter().parse(self.text) if name] if missing is None else values
            )
            raise InputError(
                f'the name template "{self.text}" cannot be filled: {missing or error}',
                place=place,
                cure=nearest(missing or "", known),
            ) from None


def _ordinal(first: Any, offset: int) -> Any:
    """Ordinals written as text keep their zero padding."""
    return f"{int(first) + offset:0{len(first)}d}" if isinstance(first, str) else first + offset
