"""A process that compiles kernels for a pack: one job at a time from its standard input, one answer a job."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import struct
import sys
import traceback
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

from winnow.compilers.code_object import CodeObject
from winnow.compilers.compiler import CompileFailed, Compiler
from winnow.errors import WinnowError

FRAME = struct.Struct("<Q")
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Job:
    """One source to compile for one target, or only to the digest of its intermediate form."""

    compiler: Compiler
    toolchain: Any
    source: Any
    target: str
    wanted: Literal["object", "digest"] = "object"


@dataclass(frozen=True)
class Failure:
    """Why a job gave no object: one line, and all that the compiler said."""

    reason: str
    detail: str = ""


def answer(job: Job) -> CodeObject | str | Failure:
    """The object or digest of a job, or why there is none. What the compiler raises costs this job, not the worker."""
    try:
        if job.wanted == "object":
            return job.compiler.compile(job.source, job.target, job.toolchain)
        if job.compiler.intermediate is None:
            return Failure(f"the compiler for {job.compiler.language} has no intermediate form")
        return job.compiler.intermediate.digest(job.source, job.target, job.toolchain)
    except CompileFailed as error:
        return Failure(error.reason, error.stderr)
    except WinnowError as error:
        return Failure(error.message, error.cure or "")
    except Exception as error:  # noqa: BLE001 - told to the pack, with the trace, as this job's failure
        return Failure(f"the compiler raised {type(error).__name__}: {error}", traceback.format_exc())


def serve(jobs: BinaryIO, answers: BinaryIO) -> None:
    """Answer jobs until their stream ends."""
    while len(head := jobs.read(FRAME.size)) == FRAME.size:
        job = pickle.loads(jobs.read(*FRAME.unpack(head)))
        raw = pickle.dumps(answer(job))
        answers.write(FRAME.pack(len(raw)) + raw)
        answers.flush()


def main(parent: int) -> None:
    """Serve on the process's pipes, dying with the process `parent`; what compilers print goes to standard error."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)
    # SIGTERM must unwind: a compiler that started processes ends them on its way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)
