"""The manifest's `coverage:` section: what the keys and values of shapes files mean in a registry's requests."""

from __future__ import annotations

from pydantic import Field

from winnow.settings.enumeration import Values
from winnow.strict.schema import StrictModel


class Coverage(StrictModel):
    """Shapes files that the engine must cover, and what their keys and values mean in the registry's requests.

    `fields` renames keys. `values` translates a key's values one by one: to the request fields that the value sets
    (none: it asks for nothing), or to the reason why no request can ask for it; `*` stands for every other value.
    """

    shapes: list[str] = Field(default_factory=list)
    fields: dict[str, str] = Field(default_factory=dict)
    values: dict[str, dict[str, Values | str]] = Field(default_factory=dict)
