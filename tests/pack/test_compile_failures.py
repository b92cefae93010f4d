"""What a user reads when a kernel does not compile: whose fault it is, and no more of the output than helps."""

from __future__ import annotations

import pytest
from pack_samples import SAMPLE_COMPILER, SampleSource, SampleToolchain

from winnow.compilers.find import Language
from winnow.errors import InputError, Place
from winnow.pack.compile import Request, compile_all

LANGUAGE = Language(SAMPLE_COMPILER, SampleToolchain())


def refused(text: str) -> str:
    request = Request("k", Place("k.json"), LANGUAGE, SampleSource("k", text, ("a",)), "x86-64-v3")
    with pytest.raises(InputError) as error:
        compile_all([request], cache=None, jobs=1, progress=lambda *_: None)
    return str(error.value)


def test_a_line_of_a_compiler_is_cut_to_a_readable_length() -> None:
    reason, detail = ("error: " + "x" * 193, "sample.c:1: error: " + "x" * 181)
    assert refused("fail " + "x" * 50_000) == (
        f"k.json: k cannot be compiled for x86-64-v3: {reason} ...\n    {detail} ..."
        "\n  cure: correct the kernel's source, or take the variant out of the selection"
    )


def test_a_compiler_that_is_killed_lacked_memory() -> None:
    assert refused("die") == (
        "k.json: k cannot be compiled for x86-64-v3: its worker died 2 times; the last died of SIGKILL (the system "
        "ends a process so when memory runs out)"
        "\n  cure: compile fewer kernels at a time (`-j`), or take the variant out of the selection"
    )


def test_a_compiler_that_crashes_is_its_authors_to_mend() -> None:
    assert refused("crash") == (
        "k.json: k cannot be compiled for x86-64-v3: its worker died 2 times; the last died of SIGSEGV"
        "\n  cure: report the crash to the compiler's authors, or take the variant out of the selection"
    )
