"""Finding a C compiler, and running one so that nothing of this machine's environment reaches the object."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from winnow.compilers.compiler import CompileFailed
from winnow.errors import InputError

ToolchainKind = Literal["gcc", "clang", "zig"]

# Each of these would change what a compiler reads, links or writes besides its command line.
_MEDDLING = frozenset(
    {
        "CPATH",
        "C_INCLUDE_PATH",
        "LIBRARY_PATH",
        "LD_RUN_PATH",
        "GCC_EXEC_PREFIX",
        "COMPILER_PATH",
        "GCC_COLORS",
        "GCC_COMPARE_DEBUG",
        "DEPENDENCIES_OUTPUT",
        "SUNPRO_DEPENDENCIES",
        "CCC_OVERRIDE_OPTIONS",
        "CCC_ADD_ARGS",
        "CCC_CC",
        "LANG",
        "LANGUAGE",
        "LC_CTYPE",
        "LC_MESSAGES",
    }
)

_PROBE_TEXT = "#include <stdint.h>\nint32_t winnow_probe(int32_t x);\nint32_t winnow_probe(int32_t x) { return x; }\n"
_PROBE_SECONDS = 120.0


@dataclass(frozen=True)
class Toolchain:
    """An installed C compiler: how to call it, what it is, and its version as one line."""

    command: tuple[str, ...]
    kind: ToolchainKind
    version: str


# -O3 with every relaxation that leaves NaN and infinities alone: kernels mask with infinities and are checked
# on buffers poisoned with NaN, which -ffast-math would optimise away.
_SPEED = (
    "-O3 -ffp-contract=fast -fno-math-errno -fno-trapping-math -fopenmp-simd -fomit-frame-pointer "
    "-falign-functions=64 -falign-loops=32"
)
# Distributions switch hardening on in different ways; the same text should become the same code on all of them.
_PLAIN = (
    "-fno-stack-protector -fno-stack-clash-protection -fcf-protection=none -fno-asynchronous-unwind-tables "
    "-fno-ident -g0 -U_FORTIFY_SOURCE -fno-lto"
)
_SHARED = (
    "-shared -fPIC -fvisibility=hidden -nostartfiles -Wl,--build-id=none -Wl,-s -Wl,-z,defs "
    "-Wl,-z,noexecstack -Wl,--hash-style=gnu -Wl,--as-needed"
)
# Slips that old compilers let pass, and __DATE__ and __TIME__, which would make every build another object.
_REFUSED = (
    "-Werror=implicit-function-declaration -Werror=int-conversion -Werror=incompatible-pointer-types -Werror=date-time"
)
COMMON_FLAGS: tuple[str, ...] = tuple(f"-std=gnu11 {_SPEED} {_PLAIN} {_SHARED} {_REFUSED}".split())
"""The arguments of every compilation, whatever the target."""

LIBRARIES: tuple[str, ...] = ("-lm",)

_CURE = (
    "install a C compiler: `apt-get install gcc libc6-dev` (Debian, Ubuntu), `dnf install gcc` (Fedora, RHEL), or "
    "without root `pip install 'winnow-kernels[zig]'`"
)


def level_flags(level: str, kind: ToolchainKind) -> tuple[str, ...]:
    """The arguments that make a toolchain compile for an x86-64 level (`x86-64-v3`)."""
    if kind == "zig":
        # It would take this machine's own system otherwise; an older C library makes objects that run elsewhere.
        return ("-target", "x86_64-linux-gnu.2.28", f"-mcpu={level.replace('-', '_')}")
    return (f"-march={level}",)


def find_toolchain() -> Toolchain:
    """The first C compiler that works: `cc`, `gcc`, `clang`, else the one in the Python package `ziglang`.

    Raises:
        InputError: there is none, or none of those found can build a shared object; says why for each.
    """
    problems: list[str] = []
    for command in _commands():
        try:
            toolchain = _identify(command)
            run_compiler(
                toolchain, _PROBE_TEXT, (*COMMON_FLAGS, *level_flags("x86-64-v2", toolchain.kind)), _PROBE_SECONDS
            )
        except CompileFailed as error:
            problems.append(f"{' '.join(command)}: {error.reason}")
        else:
            return toolchain
    if not problems:
        raise InputError("no C compiler found (looked for cc, gcc, clang and the Python package ziglang)", cure=_CURE)
    raise InputError("no usable C compiler: " + "; ".join(problems), cure=_CURE)


def _commands() -> list[tuple[str, ...]]:
    found = [(path,) for name in ("cc", "gcc", "clang") if (path := shutil.which(name)) is not None]
    if importlib.util.find_spec("ziglang") is not None:
        return [*found, (sys.executable, "-m", "ziglang", "cc")]
    return list(found)


def _identify(command: tuple[str, ...]) -> Toolchain:
    said = _asked(*command, "--version")
    first = said.splitlines()[0].strip() if said.strip() else ""
    if command[-2:] == ("ziglang", "cc"):
        return Toolchain(command, "zig", f"zig {_asked(*command[:-1], 'version').strip()}, {first}")
    if "clang" in said:
        return Toolchain(command, "clang", first)
    if "Free Software Foundation" in said:
        # The line begins with the name it was called by: the same compiler as `cc` and as `gcc` is one compiler.
        return Toolchain(command, "gcc", " ".join(["gcc", *first.split()[1:]]))
    raise CompileFailed(f'neither gcc nor clang (says "{first}")')


def _asked(*command: str) -> str:
    with tempfile.TemporaryDirectory(prefix="winnow-cc-") as directory:
        return _run(command, "", directory, _PROBE_SECONDS)


def run_compiler(toolchain: Toolchain, text: str, flags: Sequence[str], timeout_s: float) -> bytes:
    """The shared object that the toolchain makes of a C text, which it reads from a pipe.

    Raises:
        CompileFailed: the compiler refused the text, broke, or took longer than `timeout_s`.
    """
    with tempfile.TemporaryDirectory(prefix="winnow-cc-") as directory:
        output = Path(directory, "object.so")
        command = (*toolchain.command, *flags, "-x", "c", "-", "-o", output.name, *LIBRARIES)
        _run(command, text, directory, timeout_s)
        try:
            return output.read_bytes()
        except FileNotFoundError:
            raise CompileFailed("the compiler reported success and wrote no object") from None


def _run(command: Sequence[str], text: str, directory: str, timeout_s: float) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in _MEDDLING}
    environment = {**kept, "LC_ALL": "C", "TMPDIR": directory}
    try:
        # Its own process group: the driver starts the compiler proper and the linker, and all must end together.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=directory,
            env=environment,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise CompileFailed(f"cannot be started: {error.strerror}") from None
    with process:
        try:
            out, err = process.communicate(text, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            _kill_group(process)
            raise CompileFailed(f"the compiler took longer than {timeout_s:g} s") from None
        except BaseException:
            _kill_group(process)
            raise
    if process.returncode:
        raise CompileFailed(_reason(err, process.returncode), err)
    return out


def _kill_group(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _reason(stderr: str, code: int) -> str:
    """The first line that names an error; compilers put notes and the including file before it."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    named = [line for line in lines if "error" in line.lower()]
    return (named or lines or [f"the compiler ended with {code} and said nothing"])[0]
