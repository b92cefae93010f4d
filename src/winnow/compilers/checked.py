"""Every call of a compiler outside of its worker: what it raises or answers wrongly is the compiler's error."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

from winnow.compilers.code_object import CodeObject
from winnow.compilers.compiler import Compiler
from winnow.compilers.find import Language
from winnow.errors import InputError


def language_of(compiler: Compiler) -> Language:
    """The compiler with the toolchain that it finds on this machine.

    Raises:
        InputError: the toolchain is missing, or the compiler fails, gives something else than a toolchain, or cannot be
            sent to a worker.
    """
    try:
        toolchain = compiler.find_toolchain()
        stated = {key: getattr(toolchain, key, None) for key in ("kind", "version")}
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise _fault(compiler, "find_toolchain", f"raised {type(error).__name__}: {error}") from error
    for key, value in stated.items():
        if not isinstance(value, str):
            said = f"gave a value of type {type(toolchain).__name__}, whose {key} is {value!r} and not a text"
            raise _fault(compiler, "find_toolchain", said)
    try:
        inspect.getfile(compiler.compile)
    except TypeError:
        said = f"is a value of type {type(compiler.compile).__name__}, not a function of a module"
        raise _fault(compiler, "compile", said) from None
    for part, value in (("the compiler", compiler), ("its toolchain", toolchain)):
        _check_sendable(compiler, part, value)
    return Language(compiler, toolchain)


def read_object(compiler: Compiler, payload: bytes, symbol: str) -> CodeObject:
    """What an object says of itself, as its compiler reads it.

    Raises:
        InputError: the object is not this compiler's or is malformed, or the compiler fails or gives something else.
    """
    try:
        code = compiler.read_back(payload, symbol)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise _fault(compiler, "read_back", f"raised {type(error).__name__}: {error}") from error
    if not isinstance(code, CodeObject):
        raise _fault(compiler, "read_back", f"gave a value of type {type(code).__name__}, not a CodeObject")
    return code


def _check_sendable(compiler: Compiler, part: str, value: Any) -> None:
    try:
        pickle.dumps(value)
    except Exception as error:
        raise InputError(
            f"compiler for {compiler.language}: {part} cannot be sent to a worker ({error})",
            cure="make its functions ones of a module, and its toolchain a frozen dataclass",
        ) from error


def _fault(compiler: Compiler, function: str, said: str) -> InputError:
    return InputError(
        f"compiler for {compiler.language}: {function} {said}",
        cure="correct the compiler's package; docs/pack.md says what each function gives",
    )
