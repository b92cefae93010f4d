"""What the keys and values of a shapes file mean in a registry's requests, as the manifest translates them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from winnow.errors import InputError, Place, nearest
from winnow.settings.manifest import LoadedManifest

NUMBERED = ("mask_type",)
"""Keys whose values are numbers that miners and registries give out differently."""


class Untranslatable(Exception):
    """No request can ask for this shape; `str()` is the reason."""


def request_values(loaded: LoadedManifest, fields: Mapping[str, Any], known: list[str], place: Place) -> dict[str, Any]:
    """A shape's fields as the fields of a request.

    `known` are the fields that requests have, `place` is where the shape stands.

    Raises:
        Untranslatable: the shape asks for what no request can say.
        InputError: a key or a value that nothing translates.
    """
    section = loaded.manifest.coverage
    field_map = loaded.manifest.enumerate.field_map
    values: dict[str, Any] = {}
    told_by: dict[str, str] = {}
    for key, value in fields.items():
        shown = f"{key}={_text(value)}"
        if key in section.values:
            said = _translation(section.values[key], key, value, place)
        elif key in NUMBERED:
            raise InputError(
                f"nothing says what {shown} means: numbers of {key} differ between miners and registries",
                place=place,
                cure=f"translate every value in coverage.values.{key} of the manifest",
            )
        else:
            name = section.fields.get(key, key)
            said = dict.fromkeys(field_map.get(name, [name]), value)
        for name, translated in said.items():
            if name not in known:
                raise InputError(
                    f'"{key}" of this shape is not a field of {loaded.manifest.enumerate.request}',
                    place=place,
                    cure=f"rename it in coverage.fields, or translate its values in coverage.values; "
                    f"{nearest(name, known)}",
                )
            if name in values and values[name] != translated:
                raise Untranslatable(f"{told_by[name]} and {shown} are one field of a request, {name}")
            values[name] = translated
            told_by[name] = shown
    return values


def _translation(table: Mapping[str, Any], key: str, value: Any, place: Place) -> dict[str, Any]:
    said = table.get(_text(value), table.get("*"))
    if said is None:
        raise InputError(
            f"{key}={_text(value)} has no translation",
            place=place,
            cure=f"add it to coverage.values.{key} of the manifest; {nearest(_text(value), table)}",
        )
    if isinstance(said, str):
        raise Untranslatable(f"{key}={_text(value)}: {said}")
    return dict(said)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
