"""A compiler's mistake is the compiler's: it is named with its function, and never passes for a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from pack_samples import SAMPLE_COMPILER, SampleSource, SampleToolchain, compile_sample

from winnow.compilers.checked import language_of, read_object
from winnow.compilers.find import Language
from winnow.errors import InputError, Refused
from winnow.pack.worker import Job, answer
from winnow.workers.pool import Failure

CURE = "\n  cure: correct the compiler's package; docs/pack.md says what each function gives"


def raising(error: BaseException) -> Callable[..., Any]:
    def function(*_: Any) -> Any:
        raise error

    return function


def unsendable() -> Any:
    return SimpleNamespace(kind="sample", version="1", tool=lambda: 1)


def test_a_sound_compiler_is_taken_as_it_is():
    assert language_of(SAMPLE_COMPILER) == Language(SAMPLE_COMPILER, SampleToolchain())
    code = compile_sample(SampleSource("k", "x", ("a",)), "gfx942", SampleToolchain())
    assert read_object(SAMPLE_COMPILER, code.payload, "k") == code


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"find_toolchain": raising(RuntimeError("no tool"))}, "find_toolchain raised RuntimeError: no tool"),
        ({"find_toolchain": raising(SystemExit(0))}, "find_toolchain raised SystemExit: 0"),
        ({"find_toolchain": raising(Refused("not today"))}, "find_toolchain raised Refused: not today"),
        (
            {"find_toolchain": lambda: None},
            "find_toolchain gave a value of type NoneType, whose kind is None and not a text",
        ),
        (
            {"find_toolchain": lambda: SampleToolchain(version=3)},  # type: ignore[arg-type]
            "find_toolchain gave a value of type SampleToolchain, whose version is 3 and not a text",
        ),
        (
            {"find_toolchain": SampleToolchain, "compile": partial(compile_sample)},
            "compile is a value of type partial, not a function of a module",
        ),
    ],
)
def test_a_mistake_names_the_compiler_and_its_function(changed: dict[str, Any], said: str):
    with pytest.raises(InputError) as error:
        language_of(replace(SAMPLE_COMPILER, **changed))
    assert str(error.value) == f"compiler for sample: {said}{CURE}"


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"adopt": lambda source, recipe: source}, "the compiler"),
        ({"find_toolchain": unsendable}, "its toolchain"),
    ],
)
def test_what_cannot_reach_a_worker_is_named(changed: dict[str, Any], part: str):
    with pytest.raises(InputError) as error:
        language_of(replace(SAMPLE_COMPILER, **changed))
    assert str(error.value).startswith(f"compiler for sample: {part} cannot be sent to a worker (")
    assert str(error.value).endswith(
        "\n  cure: make its functions ones of a module, and its toolchain a frozen dataclass"
    )


def test_a_missing_toolchain_keeps_its_own_words():
    missing = InputError("no sample compiler", cure="install one")
    with pytest.raises(InputError) as error:
        language_of(replace(SAMPLE_COMPILER, find_toolchain=raising(missing)))
    assert str(error.value) == "no sample compiler\n  cure: install one"


@pytest.mark.parametrize(
    ("read_back", "said"),
    [
        (raising(KeyError("target")), "read_back raised KeyError: 'target'"),
        (raising(Refused("not today")), "read_back raised Refused: not today"),
        (lambda payload, symbol: b"", "read_back gave a value of type bytes, not a CodeObject"),
    ],
)
def test_what_cannot_read_an_object_is_named(read_back: Any, said: str):
    with pytest.raises(InputError) as error:
        read_object(replace(SAMPLE_COMPILER, read_back=read_back), b"", "k")
    assert str(error.value) == f"compiler for sample: {said}{CURE}"


def test_an_object_that_is_none_costs_its_job():
    compiler = replace(SAMPLE_COMPILER, compile=lambda source, target, toolchain: None)  # type: ignore[arg-type,return-value]
    found = answer(Job(compiler, SampleToolchain(), SampleSource("k", "x", ()), "gfx942"))
    assert found == Failure("the compiler for sample gave a value of type NoneType, not a CodeObject")
