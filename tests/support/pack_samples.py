"""A kernel family, a compiler and a catalog that are just large enough to pack."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack

from winnow.compilers.code_object import Argument, CodeObject
from winnow.compilers.compiler import CompileFailed, Compiler
from winnow.descriptors.documents import Kdp, Kmd, NativeSymbol, Udd, Ued, Uhd, UhdNative, Ukd, Umd
from winnow.descriptors.tree import Catalog
from winnow.errors import InputError
from winnow.identity import descriptor_id
from winnow.settings.fields import KmdField

ALLOWED = frozenset({"pack_samples"})


@dataclass(frozen=True)
class SampleSource:
    symbol: str
    text: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class SampleSpec:
    dtype: str
    tile: int
    fast: bool = False

    def __post_init__(self) -> None:
        if self.tile < 1:
            raise ValueError("tile must be positive")

    def tile_multiple(self) -> int:
        return self.tile * (2 if self.fast else 1)


def supports_sample(spec: SampleSpec, *, arch: str) -> tuple[bool, str]:
    return (spec.tile != 7, "" if spec.tile != 7 else "tile 7 is odd")


def build_sample(spec: SampleSpec, *, arch: str) -> SampleSource:
    text = f"{spec.dtype} {spec.tile} {'fast' if spec.fast else 'slow'} {arch}"
    return SampleSource(f"sample_t{spec.tile}", text, ("a", "b", "n"))


@dataclass(frozen=True)
class SampleToolchain:
    kind: str = "sample"
    version: str = "1.0"


def _layout(names: Sequence[str]) -> tuple[Argument, ...]:
    return tuple(Argument("global_buffer", 8, 8 * i, name) for i, name in enumerate(names))


def compile_sample(source: SampleSource, target: str, toolchain: SampleToolchain) -> CodeObject:
    """Compiles any text, except that some texts say what is to go wrong."""
    word, _, rest = source.text.partition(" ")
    if word == "fail":
        raise CompileFailed(f"error: {rest}", f"sample.c:1: error: {rest}")
    if word == "raise":
        raise RuntimeError(rest)
    if word == "hang":
        time.sleep(600)
    if word == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if word == "die-once":
        flag = Path(rest)
        if not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    if word == "slow":
        time.sleep(float(rest.split()[0]))
    if word == "print":
        print("noise on standard output")
    payload = msgpack.packb([target, source.symbol, list(source.arguments), (source.text + "\n") * 50])
    return read_back_sample(payload, source.symbol)


def read_back_sample(payload: bytes, symbol: str) -> CodeObject:
    try:
        target, found, arguments, text = msgpack.unpackb(payload)
    except ValueError:
        raise InputError("malformed sample object") from None
    if found != symbol:
        raise InputError(f'the object holds the kernel "{found}", not "{symbol}"')
    words = text.split()
    resources = {"text_bytes": len(text)}
    if words[0] == "lds":
        resources["lds_bytes"] = int(words[1])
    return CodeObject(target, symbol, payload, _layout(arguments), resources)


SAMPLE_COMPILER = Compiler(
    language="sample",
    source_type=SampleSource,
    targets=("x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-generic", "gfx942"),
    find_toolchain=SampleToolchain,
    compile=compile_sample,
    read_back=read_back_sample,
)
COMPILERS = {"sample": SAMPLE_COMPILER}

ENGINE = "winnow:Sample"
FIELDS = [
    KmdField(name="dtype", type="string"),
    KmdField(name="tile", type="int"),
    KmdField(name="fast", type="int", default_value=0),
    KmdField(name="tile_multiple", type="int"),
]
BINDINGS: dict[str, Any] = {
    "dtype": {"field": "dtype"},
    "tile": {"field": "tile"},
    "fast": {"field": "fast"},
    "tile_multiple": {"method": "tile_multiple"},
}


def kernel(name: str, *, arch: list[str] | None = None, **changed: Any) -> Ukd:
    """A kernel of the sample family. `changed` may give `tile`, `fast`, `spec`, `metadata`, `source`."""
    tile, fast = changed.get("tile", 4), changed.get("fast", False)
    spec = changed.get("spec", {"dtype": "fp32", "tile": tile, "fast": fast})
    metadata = {"dtype": "FLOAT", "tile": tile, "fast": int(fast), "tile_multiple": tile * (2 if fast else 1)}
    source = {"kind": "sample", "source": "pack_samples", "builder": "build_sample", "spec": spec}
    return Ukd(
        id=descriptor_id(ENGINE, "ukd", name),
        name=name,
        kernel_source={**source, **changed.get("source", {})},
        metadata={**metadata, **changed.get("metadata", {})},
        priority=0,
        arch=arch,
    )


def contract(**changed: Any) -> dict[str, Any]:
    consumer = {
        "engine_id": descriptor_id(ENGINE, "ued", ENGINE),
        "kmd_id": descriptor_id(ENGINE, "kmd", ENGINE),
        "metadata_fields": [field.name for field in FIELDS],
        "matcher_only_fields": [],
        "bindings": BINDINGS,
        "vocabulary": {"dtype": {"fp32": "FLOAT"}},
    }
    return {"specialization_contract": {"schema_version": 1, "consumers": [{**consumer, **changed}]}}


def catalog(*kernels: Ukd, arch: list[str] | None = None, provenance: dict[str, Any] | None = None) -> Catalog:
    """A catalog with one pack of these kernels in a sub-folder, and descriptors that nothing reaches."""

    def ids(kind: str, name: str) -> dict[str, str]:
        return {"id": descriptor_id(ENGINE, kind, name), "name": name}

    uhd = Uhd(**ids("uhd", "score"), adapter="native", objective="max", native=UhdNative(symbol="sample.score"))
    umds = [Umd(**ids("umd", name), scope="kernel", match_symbol=f"sample.{name}") for name in ("match", "orphan")]
    udd = Udd(**ids("udd", "dispatch"), dispatch_symbol="sample.dispatch")
    ued = Ued(
        **ids("ued", ENGINE),
        sdk_version="1.0.0",
        graph_match=NativeSymbol(native="sample.graph_match"),
        metadata=descriptor_id(ENGINE, "kmd", ENGINE),
        sort_kernel_catalog={"default": uhd.id},
    )
    kdp = Kdp(
        **ids("kdp", "main"),
        matchers=[umds[0].id],
        engine=ued.id,
        dispatch=udd.id,
        provenance=contract() if provenance is None else provenance,
        kernelDescriptors=list(kernels),
        arch=["x86-64-v3", "x86-64-generic"] if arch is None else arch,
    )
    return Catalog(
        kmd=("sample.kmd.json", Kmd(**ids("kmd", ENGINE), fields=FIELDS)),
        ued=("sample.ued.json", ued),
        umds=tuple((f"{umd.name}.umd.json", umd) for umd in umds),
        udds=(("sample.udd.json", udd),),
        uhds=(("sample.uhd.json", uhd),),
        kdps=(("packs/main.kdp.json", kdp),),
    )
