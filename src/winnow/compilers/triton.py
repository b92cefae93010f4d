"""The Triton compiler: a kernel becomes an AMD or NVIDIA code object in memory, without a GPU and without a cache."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from dataclasses import dataclass, replace

from winnow.compilers.amd_object import is_amd_object, read_amd_object
from winnow.compilers.code_object import CodeObject
from winnow.compilers.compiler import CompileFailed, Compiler, Intermediate
from winnow.compilers.isolation import isolated
from winnow.compilers.nvidia_object import read_nvidia_object
from winnow.compilers.source import TritonSource
from winnow.compilers.triton_types import ARGUMENT_TYPES, NULL_POINTERS
from winnow.errors import InputError, nearest
from winnow.identity import sha256_hex
from winnow.targets.arches import ARCHES

SERIES = "3.9"
"""The releases of Triton whose stages are driven here; they are not a public interface of it."""

_CURE = "install it: pip install 'winnow-kernels[gpu]' (Triton compiles for every GPU target without a GPU)"


@dataclass(frozen=True)
class TritonToolchain:
    """An installed Triton. `content` is a digest over its files, for the cache: a rebuilt wheel is another compiler."""

    kind: str
    version: str
    content: str


def find_triton() -> TritonToolchain:
    """The installed Triton.

    Raises:
        InputError: there is none, or it is of another series.
    """
    try:
        distribution = importlib.metadata.distribution("triton")
    except importlib.metadata.PackageNotFoundError:
        raise InputError("Triton is not installed, which compiles kernels of kind triton", cure=_CURE) from None
    version = distribution.version
    if not version.startswith(SERIES + "."):
        raise InputError(f"Triton {version} is installed; Winnow drives {SERIES}.*", cure=_CURE)
    files = sorted(
        (str(file), file.hash.value) for file in distribution.files or () if file.hash and file.suffix != ".pyc"
    )
    return TritonToolchain("triton", version, sha256_hex(repr(files)))


def compile_triton(source: TritonSource, target: str, toolchain: TritonToolchain) -> CodeObject:
    """The kernel as a code object for a GPU target; everything but `payload` is read back from those bytes.

    Every run-time argument has its name in the object. Behind them are the two pointers that Triton adds, which a
    launcher passes as null. An AMD object states its whole local memory as static: a launcher adds none.

    Raises:
        InputError: an unknown target, or an argument type that is not known.
        CompileFailed: the compiler refused the kernel, or wrote an object that is not what was asked for.
    """
    expected = _arguments(source)
    with isolated():
        # The back ends are imported with a clean environment: some of Triton's knobs are read at that time.
        from winnow.compilers import triton_stages

        payload = triton_stages.compile_kernel(source, _known(target))
    try:
        compiled = read_triton_object(payload, source.symbol)
    except InputError as error:
        raise CompileFailed(f"the object cannot be read back: {error.message}") from error
    found = [(argument.kind, argument.size, argument.name, argument.type) for argument in compiled.signature]
    if (compiled.target, found) != (target, expected):
        raise CompileFailed(f"the object is for {compiled.target} and takes {found}, not what was asked for")
    return compiled


def triton_intermediate(source: TritonSource, target: str, toolchain: TritonToolchain) -> str:
    """A digest that two sources share only when LLVM would be given the same for both, the kernel's name included."""
    with isolated():
        from winnow.compilers import triton_stages

        return triton_stages.intermediate(source, _known(target))


def read_triton_object(payload: bytes, symbol: str) -> CodeObject:
    """What an object that Triton made, for AMD or NVIDIA, says of itself. Triton need not be installed.

    Raises:
        InputError: neither, malformed, or without that kernel.
    """
    return (read_amd_object if is_amd_object(payload) else read_nvidia_object)(payload, symbol)


def _without_settings(source: TritonSource) -> TritonSource:
    """The kernel itself, whose code some settings of the back end may leave as it is."""
    return replace(source, num_warps=0, num_stages=0, options=())


def _arguments(source: TritonSource) -> list[tuple[str, int, str, str]]:
    found = []
    for name, spelled in source.signature:
        if spelled not in ARGUMENT_TYPES:
            raise InputError(
                f'argument "{name}" of {source.symbol} has the unknown type "{spelled}"',
                cure=nearest(spelled, ARGUMENT_TYPES),
            )
        found.append((*ARGUMENT_TYPES[spelled].as_argument, name))
    found += [("global_buffer", 8, "", name) for name in NULL_POINTERS]
    return [(kind, size, name, written) for kind, size, written, name in found]


def _known(target: str) -> str:
    if target not in TARGETS:
        raise InputError(f'Triton does not compile for "{target}"', cure=nearest(target, TARGETS))
    return target


TARGETS: tuple[str, ...] = tuple(name for name, facts in ARCHES.items() if facts.runtime in ("amdgpu", "nvptx"))

COMPILER = Compiler(
    language="triton",
    source_type=TritonSource,
    targets=TARGETS,
    find_toolchain=find_triton,
    compile=compile_triton,
    read_back=read_triton_object,
    intermediate=Intermediate(triton_intermediate, _without_settings),
)
