"""`winnow init`: a new engine directory from a built-in engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from winnow.engines import copy_engine


def command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where the engine goes.")],
    source: Annotated[str, typer.Option("--from", help="The built-in engine to copy.")] = "gemm_cpu",
) -> int:
    copied = copy_engine(source, directory)
    print(f"{directory}: {copied} files of {source}")
    return 0
