"""Objects that a manifest names as `module:attribute`: the only code that a data file may lead to."""

from __future__ import annotations

import importlib
from typing import Any

from winnow.errors import InputError, Place, nearest


def resolve(reference: str, place: Place) -> Any:
    """The object that `module:attribute` names.

    Raises:
        InputError: not of that form, the module cannot be imported, or it lacks the attribute.
    """
    module_name, colon, attribute = reference.partition(":")
    if not (colon and module_name and attribute):
        raise InputError(f'"{reference}" is not of the form module:attribute', place=place)
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise InputError(
            f'module "{module_name}" cannot be imported: {error}',
            place=place,
            cure="install the package that holds it, put its folder on PYTHONPATH, or correct the name",
        ) from None
    if not hasattr(module, attribute):
        raise InputError(
            f'module "{module_name}" has no "{attribute}"', place=place, cure=nearest(attribute, vars(module))
        )
    return getattr(module, attribute)
