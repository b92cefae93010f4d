"""A property that is computed once, and whose failure is remembered as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

from winnow.errors import WinnowError

T = TypeVar("T")


class once(Generic[T]):
    """Like `functools.cached_property`, but an error that a user can cause is raised again without trying again."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> once[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> T | once[T]:
        if instance is None:
            return self
        known: dict[str, tuple[T | None, WinnowError | None]] = instance.__dict__.setdefault("_once", {})
        if self._name not in known:
            try:
                known[self._name] = self._compute(instance), None
            except WinnowError as error:
                known[self._name] = None, error
        value, failure = known[self._name]
        if failure is not None:
            raise failure.with_traceback(None)
        return value  # type: ignore[return-value]
