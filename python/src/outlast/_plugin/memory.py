"""The memory that a plugin and its host share."""

from __future__ import annotations

import ctypes
from typing import Any


class Memory:
    """What a plugin and its host share: plugin/kernel/kernel.wat says how."""

    def __init__(self, exports: Any) -> None:
        self._memory = exports["memory"]
        self._input = exports["input"]
        self._alloc = exports["alloc"]
        self._length = exports["length"]
        self._output = exports["output"]
        self._output_length = exports["output_length"]

    def start(self, store: Any, data: bytes) -> None:
        """Forget the call before, and hand in an input."""
        self._write(store, self._input(store, len(data)), data)

    def output(self, store: Any) -> bytes:
        """What the plugin has set as its output."""
        return self._read(store, self._output.value(store), self._output_length.value(store))

    def block(self, store: Any, offset: int) -> bytes:
        """The block at an offset."""
        return self._read(store, offset, self._length(store, offset))

    def give(self, store: Any, data: bytes) -> int:
        """Make a block, and give its offset."""
        offset: int = self._alloc(store, len(data))
        self._write(store, offset, data)
        return offset

    def _read(self, store: Any, offset: int, length: int) -> bytes:
        self._check(store, offset, length)
        return ctypes.string_at(self._address(store) + offset, length)

    def _write(self, store: Any, offset: int, data: bytes) -> None:
        if data and not offset:
            raise MemoryError("the plugin's memory is full")
        self._check(store, offset, len(data))
        ctypes.memmove(self._address(store) + offset, data, len(data))

    def _check(self, store: Any, offset: int, length: int) -> None:
        if not 0 <= offset <= offset + length <= self._memory.data_len(store):
            raise ValueError("the plugin names a place outside of its memory")

    def _address(self, store: Any) -> int:
        return ctypes.addressof(self._memory.data_ptr(store).contents)
