"""The memory that a plugin and its host share."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from .function import function

if TYPE_CHECKING:
    import wasmtime


class Memory:
    """What a plugin and its host share: plugin/kernel/kernel.wat says how."""

    def __init__(self, store: wasmtime.Store, exports: Any) -> None:
        self._store = store
        self._memory = exports["memory"]
        self._input = function(store, exports["input"])
        self._alloc = function(store, exports["alloc"])
        self._length = function(store, exports["length"])
        self._output = exports["output"]
        self._output_length = exports["output_length"]

    def start(self, data: bytes) -> None:
        """Forget the call before, and hand in an input."""
        self._write(self._input(len(data)), data)

    def output(self) -> bytes:
        """What the plugin has set as its output."""
        store = self._store
        return self._read(self._output.value(store), self._output_length.value(store))

    def block(self, offset: int) -> bytes:
        """The block at an offset."""
        return self._read(offset, self._length(offset))

    def give(self, data: bytes) -> int:
        """Make a block, and give its offset."""
        offset = self._alloc(len(data))
        self._write(offset, data)
        return offset

    def _read(self, offset: int, length: int) -> bytes:
        return ctypes.string_at(self._address(offset, length), length)

    def _write(self, offset: int, data: bytes) -> None:
        if data and not offset:
            raise MemoryError("the plugin's memory is full")
        ctypes.memmove(self._address(offset, len(data)), data, len(data))

    def _address(self, offset: int, length: int) -> int:
        """Where so many bytes begin, which must all be there."""
        if not 0 <= offset <= offset + length <= self._memory.data_len(self._store):
            raise ValueError("the plugin names a place outside of its memory")
        return ctypes.addressof(self._memory.data_ptr(self._store).contents) + offset
