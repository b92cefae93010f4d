"""Triton kernels run by Triton's own interpreter: the numbers of the very source that is compiled, without a GPU.

Imports `families`, `graphs`, `workers`, `runtime` for its judgement, and `compilers` for kernel sources. Never knows
an engine's directory.
"""

from winnow.interpreter.judge import judge
from winnow.interpreter.launch import Interpreted, Launch, Memory
from winnow.interpreter.probe import Probe, run_probes
from winnow.interpreter.process import interpreter

__all__ = ["Interpreted", "Launch", "Memory", "Probe", "interpreter", "judge", "run_probes"]
