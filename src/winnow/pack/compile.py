"""Sources to objects: each distinct one compiled once, or taken from the cache."""

from __future__ import annotations

import signal
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from winnow.compilers.code_object import CodeObject
from winnow.compilers.find import Language
from winnow.errors import InputError, Place, WinnowError
from winnow.pack.cache import ObjectCache, object_key
from winnow.pack.executor import LOCAL, Executor
from winnow.pack.worker import Job
from winnow.workers.pool import TIMEOUT_SECONDS, Failure, JobFailed, Timing

Progress = Callable[[str, int, int], None]
"""(stage, done, total), called from the packing thread."""

_SHOWN_LINES = 12
_SHOWN_COLUMNS = 200
_REFUSED = "correct the kernel's source, or take the variant out of the selection"
_CRASHED = "report the crash to the compiler's authors, or take the variant out of the selection"
_KILLED = "compile fewer kernels at a time (`-j`), or take the variant out of the selection"


@dataclass(frozen=True)
class Request:
    """One kernel's source and the target that it is to be compiled for; `kernel` and `place` are for errors."""

    kernel: str
    place: Place
    language: Language
    source: Any
    target: str


@dataclass(frozen=True)
class Compiled:
    """The object of each request, in their order, and where those of the distinct sources came from.

    `alike` sources were given the object of another one that has the same intermediate form.
    """

    objects: tuple[CodeObject, ...]
    built: int
    cached: int
    alike: int
    timing: Timing


def compile_all(
    requests: Sequence[Request],
    *,
    cache: ObjectCache | None,
    jobs: int,
    progress: Progress,
    executor: Executor = LOCAL,
    timeout_s: float = TIMEOUT_SECONDS,
) -> Compiled:
    """Compile what the cache does not hold, `jobs` at a time. Equal sources for one target are one compilation, and so
    are sources that differ in settings which leave their intermediate form as it is.

    Raises:
        InputError: a source that cannot be addressed, or the first kernel, in the order given, that does not compile.
    """
    keys = [_key(request) for request in requests]
    first: dict[str, Request] = {}
    for key, request in zip(keys, requests, strict=True):
        first.setdefault(key, request)
    objects: dict[str, CodeObject] = {}
    if cache is not None:
        objects = {key: found for key in first if (found := cache.get(key)) is not None}
    cached = len(objects)
    missing = {key: first[key] for key in first if key not in objects}
    alike = _alike(missing, jobs, progress, executor, timeout_s)
    distinct = [key for key in missing if alike[key] == key]

    def done(index: int, compiled: CodeObject) -> None:
        for key in missing:
            if alike[key] == distinct[index]:
                objects[key] = compiled
                if cache is not None:
                    cache.put(key, compiled)
        progress("compile", len(objects) - cached, len(missing))

    try:
        timing = _run(executor, [_job(first[key]) for key in distinct], jobs, CodeObject, done, timeout_s)
    except JobFailed as error:
        raise _failed(first[distinct[error.index]], error.failure) from None
    return Compiled(tuple(objects[key] for key in keys), len(distinct), cached, len(missing) - len(distinct), timing)


def _alike(
    missing: Mapping[str, Request], jobs: int, progress: Progress, executor: Executor, timeout_s: float
) -> dict[str, str]:
    """Each key with the first key whose source has the same intermediate form: mostly itself."""
    groups: dict[Hashable, list[str]] = {}
    for key, request in missing.items():
        intermediate = request.language.compiler.intermediate
        if intermediate is not None:
            likeness = (request.language.compiler.language, request.target, intermediate.likeness(request.source))
            groups.setdefault(likeness, []).append(key)
    asked = [key for group in groups.values() if len(group) > 1 for key in group]
    digests: dict[int, str] = {}

    def done(index: int, digest: str) -> None:
        digests[index] = digest
        progress("compare", len(digests), len(asked))

    try:
        _run(executor, [_job(missing[key], "digest") for key in asked], jobs, str, done, timeout_s)
    except JobFailed as error:
        raise _failed(missing[asked[error.index]], error.failure) from None
    first: dict[tuple[str, str], str] = {}
    found = {
        key: first.setdefault((missing[key].language.compiler.language, digests[index]), key)
        for index, key in enumerate(asked)
    }
    return {key: found.get(key, key) for key in missing}


def _run(
    executor: Executor,
    jobs: Sequence[Job],
    workers: int,
    kind: type,
    done: Callable[[int, Any], None],
    timeout_s: float,
) -> Timing:
    """Run jobs by an executor, which may be a package's: each job gives one result of its kind.

    Raises:
        JobFailed: a job failed.
        InputError: the executor failed, or gave something else.
    """
    settled: set[int] = set()

    def settle(index: int, result: Any) -> None:
        if not isinstance(result, kind):
            raise _unfit(executor, f"gave a value of type {type(result).__name__} for a job, not {kind.__name__}")
        settled.add(index)
        done(index, result)

    try:
        timing = executor.run(jobs, workers=workers, done=settle, timeout_s=timeout_s)
    except (JobFailed, WinnowError, OSError):
        raise
    except (Exception, SystemExit) as error:
        raise _unfit(executor, f"raised {type(error).__name__}: {error}") from error
    if settled != set(range(len(jobs))):
        raise _unfit(executor, f"gave {len(settled)} results for {len(jobs)} jobs")
    if not isinstance(timing, Timing):
        raise _unfit(executor, f"gave a value of type {type(timing).__name__}, not a Timing")
    return timing


def _unfit(executor: Executor, said: str) -> InputError:
    return InputError(f'the executor "{executor.name}" {said}', cure="correct the package that brings it")


def _key(request: Request) -> str:
    try:
        return object_key(request.source, request.target, request.language.identity)
    except InputError as error:
        raise InputError(f"{request.kernel}: {error.message}", place=request.place, cure=error.cure) from None


def _job(request: Request, wanted: Literal["object", "digest"] = "object") -> Job:
    return Job(request.language.compiler, request.language.toolchain, request.source, request.target, wanted)


def _failed(request: Request, failure: Failure) -> InputError:
    shown = [_cut(line) for line in failure.detail.strip().splitlines()[:_SHOWN_LINES]]
    said = f"{request.kernel} cannot be compiled for {request.target}: {_cut(failure.reason)}"
    return InputError("\n    ".join([said, *shown]), place=request.place, cure=_cure(failure))


def _cut(line: str) -> str:
    return line if len(line) <= _SHOWN_COLUMNS else f"{line[:_SHOWN_COLUMNS]} ..."


def _cure(failure: Failure) -> str:
    if failure.killed_by is None:
        return _REFUSED
    return _KILLED if failure.killed_by == signal.SIGKILL else _CRASHED
