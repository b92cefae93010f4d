"""NumPy memory in the shape of a tensor that Triton's interpreter takes: it needs no tensor library for that."""

from __future__ import annotations

from typing import Any

from winnow.interpreter.launch import Memory


class HostArray:
    """A view of memory with the few methods that the interpreter calls. Host and device are the same memory."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.dtype = memory.type

    def data_ptr(self) -> int:
        """Address of the element that the kernel's pointer is to."""
        return self.span()[0]

    def span(self) -> tuple[int, int]:
        """Addresses of the tensor's first byte and of the first one after it."""
        elements = self.memory.elements
        first, fence = int(elements.ctypes.data), self.memory.fence * elements.itemsize
        return first + fence, first + elements.nbytes - fence

    def untyped_storage(self) -> HostArray:
        return self

    def cpu(self) -> HostArray:
        return self

    def new_empty(self, *_: Any, **__: Any) -> HostArray:
        return HostArray(self.memory)

    def set_(self, storage: HostArray, *_: Any) -> HostArray:
        return storage

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int, ...]:
        return self.memory.elements.shape

    def stride(self) -> tuple[int, ...]:
        return (1,)

    def copy_(self, _: HostArray) -> HostArray:
        return self
