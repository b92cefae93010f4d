"""A cache that hands out the wrong object ships a wrong kernel; one that fails costs only time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pack_samples import SAMPLE_COMPILER, SampleSource, SampleToolchain, compile_sample

from winnow.compilers.find import Language
from winnow.compilers.source import CSource, Parameter
from winnow.errors import InputError
from winnow.pack.cache import ObjectCache, object_key

IDENTITY = {"language": "c", "toolchain": "gcc 12"}
SOURCE = CSource("k", "int x;", (Parameter("a", "ptr"),), (("TILE", 4),), ("-funroll-loops",))


def test_everything_that_decides_the_bytes_is_in_the_key() -> None:
    variants = [
        replace(SOURCE, symbol="other"),
        replace(SOURCE, text="int y;"),
        replace(SOURCE, parameters=(Parameter("a", "i32"),)),
        replace(SOURCE, defines=(("TILE", "4"),)),
        replace(SOURCE, defines=(("TILE", 8),)),
        replace(SOURCE, flags=()),
    ]
    keys = {object_key(source, "x86-64-v3", IDENTITY) for source in (SOURCE, *variants)}
    keys.add(object_key(SOURCE, "x86-64-v4", IDENTITY))
    keys.add(object_key(SOURCE, "x86-64-v3", {**IDENTITY, "toolchain": "gcc 13"}))
    assert len(keys) == 3 + len(variants)
    assert object_key(replace(SOURCE), "x86-64-v3", IDENTITY) in keys


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS | st.binary(max_size=4),
    lambda inner: st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)


@dataclass(frozen=True)
class Holder:
    content: Any


def tagged(value: Any) -> Any:
    """A value so that two are equal only if they are equal in value and type at every level."""
    if isinstance(value, dict):
        return ("dict", sorted((key, tagged(item)) for key, item in value.items()))
    if isinstance(value, tuple):
        return ("tuple", [tagged(item) for item in value])
    return (type(value).__name__, repr(value))


@settings(deadline=None)
@given(VALUES, VALUES)
def test_values_share_a_key_exactly_when_they_are_the_same(a: Any, b: Any) -> None:
    first, second, again = (object_key(Holder(value), "t", IDENTITY) for value in (a, b, a))
    assert first == again
    assert (first == second) == (tagged(a) == tagged(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [(1, 1.0), (1, True), (0.0, -0.0), ("1", 1), (b"ab", {"bytes": "ab"}), (("a",), "a"), ({}, ()), (None, "null")],
)
def test_values_that_only_look_alike_do_not_share_a_key(a: Any, b: Any) -> None:
    assert object_key(Holder(a), "t", IDENTITY) != object_key(Holder(b), "t", IDENTITY)


@dataclass
class Mutable:
    text: str


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (Holder(["a"]), "Holder.content is a list, by which a compiled object cannot be addressed"),
        (Holder((1, {2})), "Holder.content[1] is a set, by which a compiled object cannot be addressed"),
        (Holder(Mutable("a")), "Holder.content is a Mutable, by which a compiled object cannot be addressed"),
        (Holder(len), "Holder.content is a builtin_function_or_method, by which a compiled object cannot be addressed"),
    ],
)
def test_what_cannot_be_keyed_is_refused(source: Holder, said: str) -> None:
    with pytest.raises(InputError) as error:
        object_key(source, "t", IDENTITY)
    assert str(error.value) == f"{said}\n  cure: kernel sources are frozen dataclasses of tuples, text and numbers"


def entry(tmp_path: Path) -> tuple[ObjectCache, str, Any]:
    compiled = compile_sample(SampleSource("k", "fp32 text", ("a", "b")), "x86-64-v3", SampleToolchain())
    cache = ObjectCache(tmp_path / "objects")
    cache.put("ab" + "0" * 62, compiled)
    return cache, "ab" + "0" * 62, compiled


def test_what_is_put_is_got(tmp_path: Path) -> None:
    cache, key, compiled = entry(tmp_path)
    assert cache.get(key) == compiled
    assert cache.get("cd" + "0" * 62) is None


def test_a_damaged_entry_counts_as_none_and_is_removed(tmp_path: Path) -> None:
    cache, key, _ = entry(tmp_path)
    whole = cache.path(key).read_bytes()
    for damaged in (whole[:-1], whole[:10], b"", whole[:200] + bytes([whole[200] ^ 1]) + whole[201:], b"x" + whole):
        cache.path(key).write_bytes(damaged)
        assert cache.get(key) is None
        assert not cache.path(key).exists()


def test_a_directory_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "objects").write_text("a file is in the way")
    cache, key, _ = entry(tmp_path)
    assert cache.get(key) is None


def test_the_code_that_drives_the_compiler_is_in_its_identity(tmp_path: Path) -> None:
    language = Language(SAMPLE_COMPILER, SampleToolchain())
    assert language.identity == Language(SAMPLE_COMPILER, SampleToolchain()).identity
    assert language.identity != Language(SAMPLE_COMPILER, SampleToolchain(version="1.1")).identity
    (tmp_path / "driver_a.py").write_text("def compile(source, target, toolchain): ...\n")
    namespace: dict[str, Any] = {}
    for text in ("def compile(source, target, toolchain): ...\n", "def compile(source, target, toolchain): pass\n"):
        (tmp_path / "driver_a.py").write_text(text)
        exec(compile(text, str(tmp_path / "driver_a.py"), "exec"), namespace)
        changed = Language(replace(SAMPLE_COMPILER, compile=namespace["compile"]), SampleToolchain())
        assert changed.identity["driver"] not in (language.identity["driver"], namespace.get("seen"))
        namespace["seen"] = changed.identity["driver"]
