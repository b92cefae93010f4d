"""A property that is computed once, and whose failure is remembered as well."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")

_Failure = tuple[BaseException, TracebackType | None]


class once(Generic[T]):
    """Like `functools.cached_property`, but whatever the first look raises is raised again without a second look.

    An interruption is not remembered.
    """

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
        known: dict[str, tuple[T | None, _Failure | None]] = instance.__dict__.setdefault("_once", {})
        if self._name not in known:
            try:
                known[self._name] = self._compute(instance), None
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - raised again, here and at every later look
                known[self._name] = None, (error, error.__traceback__)
        value, failure = known[self._name]
        if failure is not None:
            raised, where = failure
            # The traceback would grow with every gate that looks.
            raise raised.with_traceback(where)
        return value  # type: ignore[return-value]
