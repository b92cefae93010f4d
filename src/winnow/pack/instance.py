"""A dataclass from plain data, by a closed schema made of its annotations: nothing converted, nothing passed over."""

from __future__ import annotations

import typing
import warnings
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Union

from pydantic import BeforeValidator, ConfigDict, create_model
from pydantic.errors import PydanticUserError

from winnow.errors import InputError
from winnow.strict.document import Document, Key
from winnow.strict.schema import StrictModel, validate


class _Schema(StrictModel):
    """Base of the schemas that are made: each knows the class that it describes."""

    model_config = ConfigDict(protected_namespaces=())
    described: ClassVar[Callable[..., Any]]


def instance(cls: type, document: Document, *at: Key) -> Any:
    """An instance of the dataclass `cls` from the part of a document at the key path `at`.

    Raises:
        InputError: a field that is missing, unknown or of another type, with its place; an annotation that plain data
            cannot have; or what the class itself raises.
    """
    try:
        schema = _schema(cls)
    except (PydanticUserError, NameError, RecursionError) as error:
        said = "it holds itself" if isinstance(error, RecursionError) else str(error).splitlines()[0]
        raise InputError(f"{cls.__name__} cannot come from a descriptor: {said}", place=document.place(*at)) from None
    value = validate(schema, document, *at)
    try:
        return _built(value)
    except Exception as error:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise InputError(f"{cls.__name__} refuses this spec: {said}", place=document.place(*at)) from error


@cache
def _schema(cls: type) -> type[_Schema]:
    hints = typing.get_type_hints(cls)
    declared: dict[str, Any] = {}
    for item in fields(cls):
        if item.init:
            required = item.default is MISSING and item.default_factory is MISSING
            # What stands here for a default is never read: fields that are not given are left to the class.
            declared[item.name] = (_described(hints[item.name]), ... if required else None)
    with warnings.catch_warnings():
        # A field may have the name of a method of pydantic's (`copy`, `json`), which nothing here calls.
        warnings.filterwarnings("ignore", "Field name .* shadows an attribute", UserWarning)
        made = create_model(cls.__name__, __base__=_Schema, **declared)
    made.described = cls
    return made


def _described(hint: Any) -> Any:
    """An annotation with the dataclasses in it replaced by their schemas."""
    if isinstance(hint, type) and is_dataclass(hint):
        return _schema(hint)
    if typing.get_origin(hint) in (Union, UnionType):
        return Union[tuple(_described(arm) for arm in typing.get_args(hint))]  # noqa: UP007 - made of a tuple
    if typing.get_origin(hint) is Literal:
        return Annotated[hint, BeforeValidator(partial(_chosen, typing.get_args(hint)))]
    return hint


def _chosen(choices: tuple[Any, ...], value: Any) -> Any:
    """The value if it is one of the choices; 3.0 is not the choice 3, for which pydantic takes it."""
    if not any(value == choice and type(value) is type(choice) for choice in choices):
        raise ValueError(f"not one of {', '.join(map(repr, choices))}")
    return value


def _built(value: Any) -> Any:
    if not isinstance(value, _Schema):
        return value
    given = {name: _built(getattr(value, name)) for name in type(value).model_fields if name in value.model_fields_set}
    return type(value).described(**given)
