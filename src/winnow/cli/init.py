"""`winnow init`: a new engine directory from a built-in engine, with the catalog of its authored selection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.console import print_json
from winnow.cli.options import JsonOption, completing
from winnow.engines import engine_names
from winnow.steps.init import init_engine
from winnow.wording import amount


def command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where the engine goes.")],
    source: Annotated[
        str, typer.Option("--from", help="The built-in engine to copy.", autocompletion=completing(engine_names))
    ] = "gemm_cpu",
    as_json: JsonOption = False,
) -> int:
    made = init_engine(directory, source)
    if as_json:
        print_json(made.as_dict())
        return 0
    print(f"{directory}: {amount(made.files, 'files')} of {source}")
    if made.kernels:
        print(f"{directory / 'catalog'}: {amount(made.kernels, 'kernels')} of its selection")
    return 0
