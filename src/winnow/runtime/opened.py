"""A packed tree on this machine's device: which kernel serves a graph, and running it."""

from __future__ import annotations

import math
from pathlib import Path
from types import TracebackType

from winnow.archive.verify import shards_of
from winnow.devices.device import Device
from winnow.devices.find import open_device, runtime_for
from winnow.errors import InputError
from winnow.graphs.model import Graph
from winnow.runtime.execution import Execution
from winnow.runtime.load import Engine, PackedKernel, load_engine
from winnow.runtime.serve import Served, applicable, run_kernel

_MAX_LAUNCHES = 10_000


class OpenedEngine:
    """An engine with the device that runs it. Use it as a context manager; not for several threads at once."""

    def __init__(self, engine: Engine, device: Device) -> None:
        self.engine = engine
        self.device = device
        self._closed = False

    def __enter__(self) -> OpenedEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def kernels(self) -> tuple[PackedKernel, ...]:
        """The kernels that this device can run."""
        return self.engine.kernels

    def ranked(self, graph: Graph) -> tuple[PackedKernel, ...]:
        """The kernels that serve a graph, the one that the engine chooses first.

        Raises:
            Refused: the family declines the graph, or no kernel serves it; the reasons are named.
        """
        return applicable(self.engine, graph)[1]

    def run(self, graph: Graph, *, seconds: float = 0.0) -> Served:
        """Run a graph on made-up inputs with the kernel that the engine chooses, and judge the result.

        With `seconds`, a right kernel is timed for so long; without, `median_ns` is None.

        Raises:
            Refused: the family declines the graph, or no kernel serves it; the reasons are named.
        """
        return self.compare(graph, 1, seconds=seconds)[0]

    def compare(self, graph: Graph, most: int, *, seconds: float = 0.2) -> tuple[Served, ...]:
        """`run` for the first `most` kernels of the ranking, on the same inputs.

        Raises:
            Refused: the family declines the graph, or no kernel serves it; the reasons are named.
        """
        if self._closed:
            raise InputError("this engine is closed", cure="load the archive again")
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
            raise InputError(f"seconds is {seconds!r}, not a number from 0 up")
        problem, ranked = applicable(self.engine, graph)
        launches = _MAX_LAUNCHES if seconds > 0 else 0
        with Execution(self.device, self.engine.adapter, problem, seed=0) as execution:
            return tuple(
                run_kernel(self.engine, self.device, execution, kernel, min_seconds=seconds, max_launches=launches)
                for kernel in ranked[:most]
            )

    def close(self) -> None:
        """Give the device back; nothing runs from now on."""
        self._closed = True
        self.device.close()


def open_engine(archive: str | Path, *, device: str | None = None, timeout_s: float = 20.0) -> OpenedEngine:
    """The packed tree at `archive` on a device: by default the one that the tree is for.

    Every digest is checked before anything is returned. `timeout_s` is the time limit of one launch in seconds.

    Raises:
        InputError: no shard for this machine's device, no such device, or a tree that is not as it was packed.
    """
    tree = Path(archive)
    runtime = open_device(device or runtime_for(shards_of(tree)), timeout_s=timeout_s)
    try:
        return OpenedEngine(load_engine(tree, runtime.arch), runtime)
    except BaseException:
        runtime.close()
        raise
