"""What a pack's workers do: one compile job at a time, and one answer to each."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from winnow.compilers.code_object import CodeObject
from winnow.compilers.compiler import CompileFailed, Compiler
from winnow.errors import WinnowError
from winnow.workers.pool import Failure
from winnow.workers.process import Program

PROGRAM = Program("winnow.pack.worker", grace_s=2.0)
"""What a pack's workers run."""


@dataclass(frozen=True)
class Job:
    """One source to compile for one target, or only to the digest of its intermediate form."""

    compiler: Compiler
    toolchain: Any
    source: Any
    target: str
    wanted: Literal["object", "digest"] = "object"


def answer(job: Job) -> CodeObject | str | Failure:
    """The object or digest of a job, or why there is none. What the compiler raises costs this job, not the worker."""
    try:
        if job.wanted == "object":
            compiled = job.compiler.compile(job.source, job.target, job.toolchain)
            if isinstance(compiled, CodeObject):
                return compiled
            found = type(compiled).__name__
            return Failure(f"the compiler for {job.compiler.language} gave a value of type {found}, not a CodeObject")
        if job.compiler.intermediate is None:
            return Failure(f"the compiler for {job.compiler.language} has no intermediate form")
        return job.compiler.intermediate.digest(job.source, job.target, job.toolchain)
    except CompileFailed as error:
        return Failure(error.reason, error.stderr)
    except WinnowError as error:
        return Failure(error.message, error.cure or "")
    except Exception as error:  # noqa: BLE001 - told to the pack, with the trace, as this job's failure
        return Failure(f"the compiler raised {type(error).__name__}: {error}", traceback.format_exc())


def start() -> tuple[None, Callable[[Job, int | None], CodeObject | str | Failure]]:
    """A worker's beginning, see `winnow.workers.child`."""
    # SIGTERM must unwind: a compiler that started processes ends them on its way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return None, lambda job, _: answer(job)
