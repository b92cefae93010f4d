"""Triton objects: what was asked for is in the bytes, the same bytes everywhere, and nothing unsound gets through."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from triton_samples import TEXT, product

from winnow.compilers import triton as compiler
from winnow.compilers.code_object import Argument
from winnow.compilers.compiler import CompileFailed
from winnow.compilers.triton import (
    compile_triton,
    find_triton,
    read_triton_object,
    triton_intermediate,
)
from winnow.errors import InputError

TOOLCHAIN = find_triton()

SIGNATURE = (
    Argument("global_buffer", 8, 0, "x_ptr"),
    Argument("global_buffer", 8, 8, "y_ptr"),
    Argument("by_value", 4, 16, "shift", "i32"),
    Argument("by_value", 4, 20, "scale", "f32"),
    Argument("global_buffer", 8, 24, "global_scratch"),
    Argument("global_buffer", 8, 32, "profile_scratch"),
)


@pytest.mark.parametrize(
    ("target", "generic", "wave", "matrix_instructions"),
    [("gfx950", 0, 64, 4), ("gfx1201", 0, 32, 16), ("gfx12-generic", 1, 32, 16), ("gfx11-generic", 1, 32, 16)],
)
def test_an_amd_object_says_what_a_launcher_must_know(
    target: str, generic: int, wave: int, matrix_instructions: int
) -> None:
    code = compile_triton(product(), target, TOOLCHAIN)
    assert (code.target, code.symbol, code.signature) == (target, "product_64", SIGNATURE)
    found = code.resources
    assert (found["generic_version"], found["wave_size"]) == (generic, wave)
    assert (found["threads_per_block"], found["lds_bytes"]) == (4 * wave, 8192)
    assert found["matrix_instructions"] == matrix_instructions
    assert (found["vgpr_spills"], found["scratch_bytes"]) == (0, 0)
    assert 0 < found["vgprs"] < 256
    assert found["code_bytes"] > 500


def test_an_nvidia_object_says_what_a_launcher_must_know() -> None:
    code = compile_triton(product(), "sm_90", TOOLCHAIN)
    assert (code.target, code.symbol) == ("sm_90", "product_64")
    assert code.signature == SIGNATURE
    assert (code.resources["threads_per_block"], code.resources["lds_bytes"]) == (128, 16384)
    assert code.resources["matrix_instructions"] > 0


def test_the_same_source_is_the_same_object_whatever_surrounds_it(tmp_path: Path) -> None:
    """Hash seed, directory, an order of work, and every knob that Triton takes from the environment."""
    here = compile_triton(product(), "gfx950", TOOLCHAIN)
    script = (
        "from triton_samples import product; from winnow.compilers.triton import *; t = find_triton()\n"
        "compile_triton(product('other', 32), 'gfx1201', t)\n"
        "print(compile_triton(product(), 'gfx950', t).sha256)\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry),
        "PYTHONHASHSEED": "7",
        "TRITON_INTERPRET": "1",
        "TRITON_DISABLE_LINE_INFO": "0",
        "TRITON_DEFAULT_FP_FUSION": "0",
        "TRITON_FORCE_DISABLE_FP_FUSION": "1",
        "AMDGCN_USE_BUFFER_OPS": "0",
        "DISABLE_LLVM_OPT": "1",
    }
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [here.sha256]
    assert not list(tmp_path.iterdir())


def test_a_compilation_gives_the_environment_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", "/elsewhere")
    before = dict(os.environ)
    with pytest.raises(CompileFailed):
        compile_triton(product(function="missing"), "gfx950", TOOLCHAIN)
    assert dict(os.environ) == before


def test_knobs_without_effect_share_their_intermediate_text_and_others_do_not() -> None:
    """Else a sweep of settings would pay LLVM again and again for one and the same object."""

    def digest(**changes: object) -> str:
        return triton_intermediate(product(**changes), "gfx1201", TOOLCHAIN)

    plain = digest(options=(("matrix_instr_nonkdim", 0),))
    assert digest(options=(("matrix_instr_nonkdim", 16),)) == plain
    assert digest(symbol="renamed", options=(("matrix_instr_nonkdim", 0),)) != plain
    assert digest(options=(("waves_per_eu", 2),)) != plain
    assert digest(num_warps=8) != plain


def test_sources_that_share_their_intermediate_text_are_one_object_but_for_the_name() -> None:
    one, other = (
        compile_triton(product(options=(("matrix_instr_nonkdim", size),)), "gfx1201", TOOLCHAIN) for size in (0, 16)
    )
    assert one.payload == other.payload


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"function": "missing"}, 'the kernel\'s text defines no jitted function "missing"'),
        ({"constexprs": ()}, "the kernel takes x_ptr, y_ptr, shift, scale, SIZE; given are x_ptr, y_ptr, shift, scale"),
        ({"options": (("wave_per_eu", 2),)}, "the back end does not take the option wave_per_eu=2"),
        (
            {"attributes": (("z_ptr", "tt.divisibility", 16),)},
            'an attribute is about "z_ptr", which is not an argument',
        ),
    ],
)
def test_a_source_that_does_not_fit_is_refused_in_words(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(CompileFailed) as error:
        compile_triton(product(**changes), "gfx950", TOOLCHAIN)
    assert str(error.value) == reason


def test_a_mistake_in_a_kernel_is_shown_with_the_compilers_words() -> None:
    with pytest.raises(CompileFailed) as error:
        compile_triton(product(text=TEXT.replace("* scale", "* scael")), "gfx950", TOOLCHAIN)
    assert "scael is not defined" in str(error.value)
    assert "tl.dot(a, b) * scael" in error.value.stderr


def test_unknown_types_and_targets_are_errors_with_the_nearest_name() -> None:
    with pytest.raises(InputError) as error:
        compile_triton(product(signature=(("x_ptr", "*f16"),)), "gfx950", TOOLCHAIN)
    assert (
        str(error.value) == 'argument "x_ptr" of product_64 has the unknown type "*f16"\n  cure: did you mean "*fp16"?'
    )
    with pytest.raises(InputError) as error:
        compile_triton(product(), "gfx951", TOOLCHAIN)
    assert str(error.value).startswith('Triton does not compile for "gfx951"\n  cure: did you mean "gfx95')


def test_a_generic_object_with_fewer_matrix_instructions_than_its_member_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """LLVM prints errors, returns, and leaves wrong code: seen for gfx12-5-generic."""
    from winnow.compilers import amd_codegen

    counts = iter([16, 0])
    monkeypatch.setattr(amd_codegen, "_matrix_instructions", lambda assembly: next(counts))
    with pytest.raises(CompileFailed) as error:
        compile_triton(product(), "gfx12-generic", TOOLCHAIN)
    assert str(error.value) == "0 matrix instructions for gfx12-generic, but 16 for its member gfx1201"


def test_without_triton_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(compiler.importlib.metadata, "distribution", missing)
    with pytest.raises(InputError) as error:
        find_triton()
    assert str(error.value) == (
        "Triton is not installed, which compiles kernels of kind triton\n  cure: install it: pip install "
        "'winnow-kernels[gpu]' (Triton compiles for every GPU target without a GPU)"
    )


def test_objects_are_read_without_triton() -> None:
    """A packed tree must be checkable where Triton is not installed."""
    code = compile_triton(product(), "gfx950", TOOLCHAIN)
    script = (
        "import sys; sys.modules['triton'] = None\n"
        "from winnow.compilers.triton import read_triton_object\n"
        "code = read_triton_object(sys.stdin.buffer.read(), 'product_64')\n"
        "print(code.target, len(code.signature))\n"
    )
    run = subprocess.run([sys.executable, "-c", script], input=code.payload, capture_output=True, check=True)
    assert run.stdout.split() == [b"gfx950", b"6"]


@pytest.mark.parametrize("target", ["gfx950", "sm_90"])
def test_damaged_objects_are_errors_and_never_crash(target: str) -> None:
    code = compile_triton(product(), target, TOOLCHAIN)
    for cut in range(0, len(code.payload), 97):
        with pytest.raises(InputError):
            read_triton_object(code.payload[:cut], code.symbol)
    with pytest.raises(InputError, match="other"):
        read_triton_object(code.payload, "other")
    for i in range(0, len(code.payload), 61):
        damaged = bytearray(code.payload)
        damaged[i] ^= 0xFF
        try:
            read = read_triton_object(bytes(damaged), code.symbol)
        except InputError:
            continue
        assert hashlib.sha256(read.payload).hexdigest() != code.sha256
