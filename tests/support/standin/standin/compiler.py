"""A compiler for kernels in `toylang`, whose objects are JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass

from winnow.compilers.code_object import Argument, CodeObject
from winnow.compilers.compiler import CompileFailed, Compiler
from winnow.compilers.layout import argument_layout
from winnow.compilers.source import Parameter
from winnow.errors import InputError

PARAMETERS = (Parameter("x", "ptr"), Parameter("y", "ptr"), Parameter("n", "i64"), Parameter("factor", "f32"))


@dataclass(frozen=True)
class ToySource:
    """A kernel: `program` is one word that the device knows, `tile` how many elements it takes at a time."""

    symbol: str
    program: str
    tile: int
    parameters: tuple[Parameter, ...] = PARAMETERS


@dataclass(frozen=True)
class Toolchain:
    """The only version there is."""

    kind: str = "toylang"
    version: str = "1"


def compile_toy(source: ToySource, target: str, toolchain: Toolchain) -> CodeObject:
    if source.program != "scale":
        raise CompileFailed(f"toylang has no {source.program}")
    arguments = [vars(argument) for argument in argument_layout(source.parameters)]
    record = {
        "symbol": source.symbol,
        "target": target,
        "program": source.program,
        "tile": source.tile,
        "arguments": arguments,
    }
    return read_back(json.dumps(record, sort_keys=True).encode(), source.symbol)


def read_back(payload: bytes, symbol: str) -> CodeObject:
    try:
        record = json.loads(payload)
    except ValueError:
        raise InputError("not an object of toylang") from None
    if record["symbol"] != symbol:
        raise InputError(f'the object holds "{record["symbol"]}", not "{symbol}"')
    signature = tuple(Argument(**argument) for argument in record["arguments"])
    return CodeObject(record["target"], symbol, payload, signature, {"tile": record["tile"]})


COMPILER = Compiler(
    language="toylang",
    source_type=ToySource,
    targets=("toy1",),
    find_toolchain=Toolchain,
    compile=compile_toy,
    read_back=read_back,
)
