"""Finding a compiler: a user without one must learn what to install, and a broken one must not be taken."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys

import pytest
from processes import ended

from winnow.compilers.c import find_toolchain
from winnow.compilers.compiler import CompileFailed
from winnow.compilers.toolchain import Toolchain, level_flags, run_compiler
from winnow.errors import InputError

_CURE = (
    "\n  cure: install a C compiler: `apt-get install gcc libc6-dev` (Debian, Ubuntu), `dnf install gcc` (Fedora, "
    "RHEL), or without root `pip install 'winnow-kernels[zig]'`"
)


@pytest.fixture
def only_here(tmp_path, monkeypatch):
    """An empty PATH and no ziglang; returns a function that puts a shell script into that PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    def install(name: str, script: str) -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\nPATH={os.defpath}\n{script}\n")
        path.chmod(0o755)
        return str(path)

    return install


def test_without_a_compiler_the_error_says_what_to_install(only_here):
    with pytest.raises(InputError) as caught:
        find_toolchain()
    looked = "no C compiler found (looked for cc, gcc, clang and the Python package ziglang)"
    assert str(caught.value) == looked + _CURE
    assert caught.value.exit_code == 2


def test_a_compiler_that_is_neither_gcc_nor_clang_is_not_taken(only_here):
    path = only_here("cc", "echo tcc version 0.9")
    with pytest.raises(InputError) as caught:
        find_toolchain()
    expected = f'no usable C compiler: {path}: neither gcc nor clang (says "tcc version 0.9")'
    assert str(caught.value) == expected + _CURE


def test_a_compiler_that_cannot_build_is_not_taken_and_its_complaint_is_shown(only_here):
    """As with gcc and no C library's headers, or one too old for the x86-64 levels."""
    path = only_here(
        "gcc",
        """case "$*" in
        *--version*) echo "gcc (Old) 4.8"; echo "Copyright (C) Free Software Foundation, Inc.";;
        *) echo "note: x" >&2; echo "error: bad value 'x86-64-v2' for '-march='" >&2; exit 1;;
        esac""",
    )
    with pytest.raises(InputError) as caught:
        find_toolchain()
    expected = f"no usable C compiler: {path}: error: bad value 'x86-64-v2' for '-march='"
    assert str(caught.value) == expected + _CURE


def test_a_broken_cc_does_not_hide_a_working_compiler(only_here, monkeypatch):
    real = shutil.which("gcc", path=os.defpath) or shutil.which("clang", path=os.defpath)
    if real is None:
        pytest.skip("needs a gcc or clang in the standard directories")
    only_here("cc", "exit 1")
    good = only_here("gcc", f'exec {real} "$@"')
    assert find_toolchain().command == (good,)


def test_ziglang_is_the_last_resort(only_here, monkeypatch):
    """With no compiler in PATH and the module installed, it is asked; here it is a stand-in that cannot build."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if name == "ziglang" else None)
    fake = only_here(
        "python", 'case "$*" in *--version*) echo "clang version 22";; *" version") echo 0.17;; *) exit 7;; esac'
    )
    monkeypatch.setattr(sys, "executable", fake)
    with pytest.raises(InputError) as caught:
        find_toolchain()
    expected = f"no usable C compiler: {fake} -m ziglang cc: the compiler ended with 7 and said nothing"
    assert str(caught.value) == expected + _CURE


def test_the_same_gcc_under_two_names_is_one_version(only_here):
    text = 'echo "$(basename $0) (Debian 12.2.0) 12.2.0"; echo "Free Software Foundation"; : > object.so'
    only_here("cc", text)
    first = find_toolchain()
    os.rename(first.command[0], first.command[0].removesuffix("cc") + "gcc")
    second = find_toolchain()
    assert first.command != second.command
    assert first.version == second.version == "gcc (Debian 12.2.0) 12.2.0"


def test_zig_is_told_a_level_in_its_own_spelling():
    assert level_flags("x86-64-v3", "zig") == ("-target", "x86_64-linux-gnu.2.28", "-mcpu=x86_64_v3")
    assert level_flags("x86-64-v3", "gcc") == level_flags("x86-64-v3", "clang") == ("-march=x86-64-v3",)


def test_a_compiler_that_hangs_is_ended_with_its_children(only_here, tmp_path):
    """It costs one variant, and leaves no process behind that would disturb measurements."""
    started = tmp_path / "child"
    path = only_here("cc", f"sleep 60 & echo $! > {started}.new; mv {started}.new {started}; wait")
    with pytest.raises(CompileFailed) as caught:
        run_compiler(Toolchain((path,), "gcc", "fake"), "", (), 1)
    assert str(caught.value) == "the compiler took longer than 1 s"
    assert ended(int(started.read_text()))


def test_a_compiler_that_writes_nothing_has_failed(only_here):
    path = only_here("cc", "exit 0")
    with pytest.raises(CompileFailed) as caught:
        run_compiler(Toolchain((path,), "gcc", "fake"), "", (), 10)
    assert str(caught.value) == "the compiler reported success and wrote no object"


def test_a_compiler_that_vanished_has_failed(tmp_path):
    with pytest.raises(CompileFailed) as caught:
        run_compiler(Toolchain((str(tmp_path / "cc"),), "gcc", "fake"), "", (), 10)
    assert str(caught.value) == "cannot be started: No such file or directory"
