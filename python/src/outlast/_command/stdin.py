"""A standard input that every attempt of a command reads from its beginning."""

from __future__ import annotations

import os
import stat
import subprocess
from typing import IO, Any


class Stdin:
    """A standard input that every attempt reads from its beginning, whatever the
    attempts before have read of it.

    - Bytes are given to each attempt.
    - A file is sought back to where it stood.
    - A terminal, the null device and any other device is handed on as it is.
    - Anything else, such as a pipe, is read to its end before the first attempt.

    Args:
        data: What to give, or ``None``.
        file: A file, or its descriptor, to read from, or ``None``. Without
            either a command gets the null device.

    Raises:
        ValueError: If both are given.
        TypeError: If *data* is not bytes.
    """

    def __init__(self, data: bytes | None, file: IO[Any] | int | None) -> None:
        if data is not None and file is not None:
            raise ValueError("outlast: give either input or stdin, not both")
        if data is not None and not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"outlast: input is of type {type(data).__name__}, and must be bytes")
        self._data = None if data is None else bytes(data)
        self._descriptor: int | None = None
        self._start: int | None = None  # of a file that can be sought
        if file is not None and file != subprocess.DEVNULL:
            self._from(file)

    def _from(self, file: IO[Any] | int) -> None:
        raw: Any = getattr(file, "buffer", file)  # a text file's bytes
        descriptor = _descriptor(raw)
        if descriptor is None:
            self._data = _bytes(raw.read())
            return
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISREG(mode) or stat.S_ISBLK(mode):
            self._descriptor = descriptor
            self._start = (
                os.lseek(descriptor, 0, os.SEEK_CUR) if isinstance(raw, int) else raw.tell()
            )
        elif stat.S_ISCHR(mode):
            self._descriptor = descriptor
        else:
            self._data = _read(raw, descriptor)

    @property
    def is_terminal(self) -> bool:
        """Whether a person types it."""
        return self._descriptor is not None and os.isatty(self._descriptor)

    def attach(self) -> tuple[int, bytes]:
        """What the next attempt gets: a descriptor or one of the constants of
        :mod:`subprocess`, and what to write if it is a pipe.

        Raises:
            OSError: If a file cannot be sought back.
        """
        if self._data is not None:
            return subprocess.PIPE, self._data
        if self._descriptor is None:
            return subprocess.DEVNULL, b""
        if self._start is not None:
            os.lseek(self._descriptor, self._start, os.SEEK_SET)
        return self._descriptor, b""


def _descriptor(file: Any) -> int | None:
    if isinstance(file, int):
        return file
    try:
        descriptor: int = file.fileno()
    except (AttributeError, OSError):  # such as an io.BytesIO
        return None
    return descriptor


def _read(file: Any, descriptor: int) -> bytes:
    if not isinstance(file, int):
        return _bytes(file.read())  # not from the descriptor: some may be buffered
    chunks = []
    while chunk := os.read(descriptor, 1 << 16):
        chunks.append(chunk)
    return b"".join(chunks)


def _bytes(data: bytes | str) -> bytes:
    return data.encode() if isinstance(data, str) else data
