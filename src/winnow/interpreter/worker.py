"""What the interpreter's workers do: run launches. TRITON_INTERPRET=1 holds for a whole process."""

from __future__ import annotations

import linecache
import os
import pickle
import signal
from collections.abc import Callable
from typing import Any

from winnow.compilers.source import TritonSource
from winnow.interpreter.bounds import OutOfBounds, bounded
from winnow.interpreter.host_array import HostArray
from winnow.interpreter.launch import Interpreted, Launch, Memory
from winnow.interpreter.mended_dot import mend_dot
from winnow.workers.child import die_with


def apart(launch: Launch) -> Interpreted:
    """`run` in a process of its own: a kernel that writes where it must not damages that one."""
    reader, writer = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            die_with(parent)
            with os.fdopen(writer, "wb") as answer:
                pickle.dump(run(launch), answer)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        raw = answer.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        said = f"with {code}" if code > 0 else f"by {signal.Signals(-code).name}"
        return Interpreted({}, f"the kernel ended its process {said}")
    answered: Interpreted = pickle.loads(raw)
    return answered


def run(launch: Launch) -> Interpreted:
    """Run one launch; what the kernel raises is the answer's error."""
    source = launch.source
    try:
        kernel = function_of(source)
        arrays = {name: HostArray(value) for name, value in launch.arguments.items() if isinstance(value, Memory)}
        numbers = {name: value for name, value in launch.arguments.items() if not isinstance(value, Memory)}
        with bounded(arrays):
            kernel[launch.grid](**arrays, **numbers, **dict(source.constexprs))
    except Exception as error:  # noqa: BLE001 - told to the caller as this launch's answer
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, OutOfBounds):
            cause = cause.__cause__
        return Interpreted({}, str(cause or f"the interpreter raised {type(error).__name__}: {error}"))
    return Interpreted({name: array.memory.elements for name, array in arrays.items()})


def function_of(source: TritonSource) -> Any:
    """The jitted function that a source's text defines."""
    name = f"<{source.symbol}>"
    # Triton reads a function's text back through `inspect`, which looks here first.
    linecache.cache[name] = (len(source.text), None, source.text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": source.symbol}
    exec(compile(source.text, name, "exec"), namespace)
    return namespace[source.function]


def start() -> tuple[None, Callable[[Launch, int | None], Interpreted]]:
    """A worker's beginning, see `winnow.workers.child`."""
    mend_dot()
    return None, lambda launch, _: apart(launch)
