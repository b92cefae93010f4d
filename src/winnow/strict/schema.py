"""A document against a pydantic model: the first thing that does not fit, with its line, value and cure."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from winnow.errors import InputError, nearest
from winnow.strict.document import Document, Key, Path_


class StrictModel(BaseModel):
    """Base of every schema: frozen, no unknown keys, no silent conversion between types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


M = TypeVar("M", bound=BaseModel)


def validate(model: type[M], document: Document, *at: Key) -> M:
    """The part of `document` at the key path `at`, as a `model`.

    Raises:
        InputError: the first thing that does not fit, with its line, its key, its value and the cure.
    """
    data = document.data
    for key in at:
        data = data[key]
    try:
        return model.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        # A misspelt key shows as a missing one too; the unknown spelling is the one that the user can see.
        first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
        path = (*at, *_real_path(data, first))
        raise InputError(
            _explain(first, path), place=document.place(*path), cure=_cure(model, first, path, data)
        ) from None


def _real_path(data: Any, first: Any) -> Path_:
    """pydantic puts names of union members into a location; keep the keys that the file really has."""
    path: list[Key] = []
    for key in first["loc"]:
        inside = isinstance(data, dict) and key in data
        inside = inside or (isinstance(data, list) and isinstance(key, int) and key < len(data))
        if inside:
            data = data[key]
            path.append(key)
    return (*path, first["loc"][-1]) if first["type"] == "missing" else tuple(path)


def _explain(first: Any, path: Path_) -> str:
    kind, value = first["type"], first.get("input")
    if kind == "extra_forbidden":
        return f'unknown key "{path[-1]}"'
    if kind == "missing":
        return f'key "{path[-1]}" is missing'
    # pydantic would name a class of Winnow's.
    message = "not a mapping" if kind == "model_type" else first["msg"].removeprefix("Value error, ")
    shown = repr(value)
    return f"{message} (value: {shown if len(shown) <= 80 else shown[:77] + '...'})"


def _cure(model: type[BaseModel], first: Any, path: Path_, data: Any) -> str | None:
    if first["type"] != "extra_forbidden":
        return None
    owner = _model_at(model, first["loc"][:-1])
    return None if owner is None else nearest(str(path[-1]), owner.model_fields)


def _model_at(model: type[BaseModel], loc: tuple[Key, ...]) -> type[BaseModel] | None:
    """The model whose fields stand at `loc`; None where a union leaves more than one. Indices choose nothing."""
    models = [model]
    for key in loc:
        named = [m for m in models if m.__name__ == key]
        fields = [m.model_fields[str(key)] for m in models if str(key) in m.model_fields]
        if named:
            models = named
        elif fields:
            inside = [t for field in fields for t in (field.annotation, *_type_arguments(field.annotation))]
            models = [t for t in inside if isinstance(t, type) and issubclass(t, BaseModel)]
    return models[0] if len(models) == 1 else None


def _type_arguments(annotation: Any) -> list[Any]:
    found: list[Any] = []
    for argument in getattr(annotation, "__args__", ()):
        found += [argument, *_type_arguments(argument)]
    return found
