"""`winnow init`: a new engine directory from a built-in engine, with the catalog of its authored selection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from winnow.cli.console import print_json
from winnow.cli.options import JsonOption
from winnow.engine_dir import EngineDir
from winnow.engines import copy_engine
from winnow.steps.generate import write_catalog
from winnow.wording import amount


def command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where the engine goes.")],
    source: Annotated[str, typer.Option("--from", help="The built-in engine to copy.")] = "gemm_cpu",
    as_json: JsonOption = False,
) -> int:
    copied, kernels = copy_engine(source, directory), 0
    engine = EngineDir(directory / "engine.yaml")
    if engine.selection_file.is_file():
        _, kernels = write_catalog(engine.manifest.manifest, engine.selection, engine.catalog)
    if as_json:
        print_json({"directory": str(directory), "engine": source, "files": copied, "kernels": kernels})
        return 0
    print(f"{directory}: {amount(copied, 'files')} of {source}")
    if kernels:
        print(f"{engine.catalog}: {amount(kernels, 'kernels')} of its selection")
    return 0
