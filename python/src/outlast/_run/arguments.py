"""What a function was given, for each of its attempts."""

from __future__ import annotations

import inspect
import io
from collections.abc import Iterable
from types import AsyncGeneratorType, GeneratorType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._evidence.requests import Request, Requests


class Arguments:
    """The arguments of a call, which each of its attempts gets whole: a file is read
    from where it stood. What can be read only once, and has been, or a file that was closed,
    ends the call.
    """

    def __init__(self, values: Iterable[object]) -> None:
        self._files: list[tuple[io.IOBase, int]] = []
        self._pipes = False
        self._generators: list[Any] = []
        self._failed = False
        self._error: Exception | None = None
        self._sent = False
        for value in values:
            if isinstance(value, io.IOBase):
                self._add_file(value)
            elif isinstance(value, (GeneratorType, AsyncGeneratorType)):
                self._generators.append(value)

    def _add_file(self, file: io.IOBase) -> None:
        if file.closed or not file.readable():
            return
        if file.seekable():
            self._files.append((file, file.tell()))
        else:
            self._pipes = True

    def give(self) -> None:
        """Make an attempt get them as the first one did.

        Raises:
            TypeError: If that cannot be. Its cause is why there is another attempt.
        """
        if self._failed and (any(map(_begun, self._generators)) or (self._pipes and self._sent)):
            raise TypeError(
                "outlast: an attempt has read an argument that can be read only once: give what "
                "can be read again, or make it in the function"
            ) from self._error
        if any(file.closed for file, _ in self._files):
            raise TypeError(
                "outlast: an attempt has closed a file that it was given: leave that to the "
                "caller, or open it in the function"
            ) from self._error
        for file, place in self._files:
            file.seek(place)

    def failed(self, error: Exception | None, seen: Requests | Request | None) -> None:
        """An attempt has failed, perhaps by an exception."""
        self._failed, self._error = True, error
        self._sent = self._sent or seen is None or not seen.attempt.sent_nothing


def _begun(generator: Any) -> bool:
    """Whether a generator has given anything, or ended."""
    if isinstance(generator, GeneratorType):
        return inspect.getgeneratorstate(generator) != inspect.GEN_CREATED
    frame = generator.ag_frame
    return frame is None or frame.f_lasti != _FRESH


async def _nothing() -> Any:
    yield


_FRESH = _nothing().ag_frame.f_lasti
"""Where an asynchronous generator stands that was never asked, by this release."""
