"""How a problem's field may be compared with a kernel's metadata field: one row an operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from winnow.errors import nearest


@dataclass(frozen=True)
class Operator:
    """One comparison of what a problem asks with what a kernel's metadata offers."""

    name: str
    admits: Callable[[Any, Any], bool] | None
    """(asked, offered) -> whether the kernel serves; None where nothing is compared"""
    words: str
    """What an asked value should be to an offered one, as in "n=9 is not … step=4"."""
    condition: str
    """The comparison in C++, with `{field}` for the problem's field and `{variable}` for the metadata."""
    alone: bool
    """Whether a manifest may write the name by itself, for the metadata field of the same name."""
    with_field: bool
    """Whether a manifest may write `{name: metadata field}`."""


_ROWS = (
    Operator(
        name="equal",
        admits=lambda asked, offered: bool(asked == offered),
        words="equal to",
        condition="graph_{field}(graph) == {variable}",
        alone=True,
        with_field=True,
    ),
    Operator(
        name="any",
        admits=None,
        words="",
        condition="",
        alone=True,
        with_field=False,
    ),
    Operator(
        name="multiple_of",
        admits=lambda asked, offered: bool(offered > 0 and asked % offered == 0),
        words="a multiple of",
        condition="{variable} > 0 && graph_{field}(graph) % {variable} == 0",
        alone=False,
        with_field=True,
    ),
    Operator(
        name="at_most",
        admits=lambda asked, offered: bool(asked <= offered),
        words="at most",
        condition="graph_{field}(graph) <= {variable}",
        alone=False,
        with_field=True,
    ),
)

OPERATORS: Mapping[str, Operator] = MappingProxyType({row.name: row for row in _ROWS})
"""Every operator by name."""

_ALONE = tuple(row.name for row in _ROWS if row.alone)
_WITH_FIELD = tuple(row.name for row in _ROWS if row.with_field)


def comparison(spelled: object) -> tuple[str, str | None]:
    """(operator, metadata field) of a comparison as files spell it: `equal`, `any`, or `{operator: field}`.

    The field is None where the spelling names none. Raises ValueError, which says what may be written.
    """
    if isinstance(spelled, str):
        if spelled not in _ALONE:
            raise ValueError(f"no comparison is spelled so; {nearest(spelled, _ALONE)}")
        return spelled, None
    if not isinstance(spelled, dict) or len(spelled) != 1:
        raise ValueError(f"say {', '.join(_ALONE)}, or one operator with its metadata field, as {{multiple_of: tile}}")
    ((operator, field),) = spelled.items()
    if operator not in _WITH_FIELD or not isinstance(field, str):
        *others, last = (f"{{{name}: F}}" for name in _WITH_FIELD)
        raise ValueError(f"say {', '.join(others)} or {last} with a metadata field F")
    return operator, field
