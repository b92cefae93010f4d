"""Compiling: a catalog's bytes must not depend on who built it where, and a failure must name the kernel's own line."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from winnow.compilers.c import COMPILER, CompileFailed, compile_c
from winnow.compilers.source import CSource, Parameter
from winnow.errors import InputError

_HEAD = "void WINNOW_SYMBOL(const struct winnow_args *args, int32_t grid_x, int32_t grid_y, int32_t grid_z)"
_TEXT = f"""#include <math.h>
#include <stdio.h>
{_HEAD} {{
  const float *x = args->x;
  for (int64_t i = 0; i < args->n; i++) ((float *)args->y)[i] += args->a * expf(x[i]) * SCALE;
  if (!x) puts(__FILE__);
}}
"""
_PARAMETERS = (Parameter("x", "ptr"), Parameter("y", "ptr"), Parameter("a", "f32"), Parameter("n", "i64"))


def axpy(**changes):
    return CSource(
        **{"symbol": "axpy", "text": _TEXT, "parameters": _PARAMETERS, "defines": (("SCALE", -2),), **changes}
    )


_SCRIPT = """
import sys
from winnow.compilers.c import compile_c, find_toolchain
from winnow.compilers.source import CSource, Parameter
source = CSource("axpy", sys.argv[1], tuple(Parameter(*p.split(":")) for p in sys.argv[2].split(",")), (("SCALE", -2),))
toolchain = find_toolchain()
print(*(compile_c(source, target, toolchain).sha256 for target in ("x86-64-v2", "x86-64-v4")))
"""


def test_bytes_do_not_depend_on_directory_hash_seed_locale_or_environment(tmp_path, toolchain):
    trap = tmp_path / "include"
    trap.mkdir()
    (trap / "math.h").write_text("#error this directory must not be searched\n")
    expected = [compile_c(axpy(), target, toolchain).sha256 for target in ("x86-64-v2", "x86-64-v4")]
    parameters = ",".join(f"{p.name}:{p.type}" for p in _PARAMETERS)
    for seed, locale in (("1", "C"), ("2", "de_DE.UTF-8")):
        directory = tmp_path / f"somewhere-{seed}"
        directory.mkdir()
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PYTHONHASHSEED": seed,
            "LC_ALL": locale,
            "TMPDIR": str(directory),
            "CPATH": str(trap),
        }
        run = subprocess.run(
            [sys.executable, "-c", _SCRIPT, _TEXT, parameters],
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert run.stdout.split() == expected, run.stderr
        assert list(directory.iterdir()) == [], "the compiler's temporary files stay behind"


def test_no_path_of_the_building_machine_is_in_the_object(toolchain):
    payload = compile_c(axpy(), "x86-64-v3", toolchain).payload
    for path in {str(Path.home()), os.getcwd(), "/tmp", "winnow-cc-", "stdin", ".debug", ".symtab"} - {"/"}:
        assert path.encode() not in payload


@pytest.mark.parametrize("target", COMPILER.targets)
def test_what_comes_back_stands_in_the_object(toolchain, target):
    compiled = compile_c(axpy(), target, toolchain)
    assert compiled == COMPILER.read_back(compiled.payload, "axpy")
    assert (compiled.target, compiled.symbol) == (target, "axpy")
    assert [(a.name, a.type, a.offset) for a in compiled.signature] == [
        ("x", "", 0),
        ("y", "", 8),
        ("a", "f32", 16),
        ("n", "i64", 24),
    ]
    assert 0 < compiled.resources["kernel_bytes"] <= compiled.resources["text_bytes"]
    assert compiled.resources["needed_libraries"] >= 1


def test_each_level_gets_its_own_registers(toolchain):
    """Otherwise a v4 object is v2 code under another name, and resolving targets decides nothing."""
    report = (
        f"{_HEAD} {{\n#ifdef __AVX512F__\n  *(int *)args->y = 4;\n#elif defined __AVX2__\n  *(int *)args->y = 3;\n"
        "#elif defined __SSE4_2__ && defined __POPCNT__\n  *(int *)args->y = 2;\n#else\n#error no level\n#endif\n}\n"
    )
    source = axpy(text=report)
    code = {t: compile_c(source, t, toolchain).payload for t in COMPILER.targets}
    stores = {t: next(n for n in (2, 3, 4) if bytes([0xC7, 0, n, 0, 0, 0]) in code[t]) for t in code}
    assert stores == {"x86-64-v2": 2, "x86-64-v3": 3, "x86-64-v4": 4, "x86-64-generic": 2}


def test_a_syntax_error_costs_one_variant_and_names_the_kernels_own_line(toolchain):
    with pytest.raises(CompileFailed) as caught:
        compile_c(axpy(text=f"{_HEAD} {{\n  not C;\n}}"), "x86-64-v2", toolchain)
    assert caught.value.reason.startswith("axpy.c:2:")
    assert "error:" in str(caught.value)
    assert caught.value.reason in caught.value.stderr


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="no kernel"),
        pytest.param(f"static {_HEAD} {{}}", id="not exported"),
        pytest.param(f"void helper(void);\n{_HEAD} {{ helper(); }}", id="undefined helper"),
        pytest.param(f"{_HEAD} {{ undeclared(); }}", id="undeclared helper"),
        pytest.param(f"{_HEAD} {{ *(const char **)args->x = __DATE__; }}", id="the day of the build"),
        pytest.param("int WINNOW_SYMBOL(void) { return 0; }", id="another type"),
    ],
)
def test_a_text_without_a_usable_kernel_is_refused(toolchain, text):
    with pytest.raises(CompileFailed):
        compile_c(axpy(text=text), "x86-64-v2", toolchain)


def test_an_unknown_target_names_the_nearest_one(toolchain):
    with pytest.raises(InputError) as caught:
        compile_c(axpy(), "x86_64-v3", toolchain)
    assert str(caught.value) == '"x86_64-v3" is not a CPU target\n  cure: did you mean "x86-64-v3"?'


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"symbol": "a-b"}, 'the symbol "a-b" is not a C identifier\n  cure: use letters, digits and underscores'),
        (
            {"parameters": (Parameter("x;", "ptr"),)},
            'the parameter "x;" is not a C identifier\n  cure: use letters, digits and underscores',
        ),
        (
            {"defines": (("BLOCK M", 1),)},
            'the define "BLOCK M" is not a C identifier\n  cure: use letters, digits and underscores',
        ),
        (
            {"defines": (("A", "1\n#error"),)},
            'the define "A" spans lines\n  cure: put the code into the kernel\'s text',
        ),
    ],
)
def test_names_that_would_become_other_code_are_refused(toolchain, changes, message):
    with pytest.raises(InputError) as caught:
        compile_c(axpy(**changes), "x86-64-v2", toolchain)
    assert str(caught.value) == message


def test_defines_are_what_the_preprocessor_sees(toolchain):
    """A knob may be a number, a flag or a piece of code."""
    defines = (("TILE", -2), ("CAUSAL", True), ("TYPE", "const int32_t *"))
    checks = "#if TILE != -2 || CAUSAL != 1\n#error wrong\n#endif"
    text = f"{checks}\n{_HEAD} {{ TYPE x = args->x; *(int *)args->y = *x; }}"
    compile_c(axpy(text=text, defines=defines), "x86-64-v2", toolchain)


def test_the_familys_own_flags_have_the_last_word(toolchain):
    text = f"{_HEAD} {{\n#if !defined CHOSEN || CHOSEN != 7\n#error not seen\n#endif\n}}"
    compile_c(axpy(text=text, flags=("-DCHOSEN=7",)), "x86-64-v2", toolchain)
    plain, smaller = (compile_c(axpy(flags=flags), "x86-64-v2", toolchain) for flags in ((), ("-Os",)))
    assert smaller.resources["kernel_bytes"] < plain.resources["kernel_bytes"]


def test_an_object_that_is_not_what_was_asked_for_is_refused(toolchain, tmp_path):
    """A compiler wrapper with a stale cache must not slip another kernel's object in."""
    stale = tmp_path / "stale.so"
    stale.write_bytes(compile_c(axpy(), "x86-64-v3", toolchain).payload)
    wrapper = tmp_path / "cc"
    wrapper.write_text(f"#!/bin/sh\ncat > /dev/null\ncp {stale} object.so\n")
    wrapper.chmod(0o755)
    cached = type(toolchain)((str(wrapper),), toolchain.kind, toolchain.version)
    assert compile_c(axpy(), "x86-64-v3", cached).target == "x86-64-v3"
    with pytest.raises(CompileFailed) as caught:
        compile_c(axpy(), "x86-64-v2", cached)
    assert str(caught.value) == "the object is for x86-64-v3 and not what was asked for"
    with pytest.raises(CompileFailed) as caught:
        compile_c(axpy(symbol="other"), "x86-64-v3", cached)
    expected = 'the object cannot be read back: the object holds the kernel "axpy", not "other"'
    assert str(caught.value) == expected


def test_a_failure_crosses_process_boundaries_whole():
    """The compile pool sends it back from a worker."""
    failure = pickle.loads(pickle.dumps(CompileFailed("a line", "all of it")))
    assert (failure.reason, failure.stderr) == ("a line", "all of it")
