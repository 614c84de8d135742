"""The body of a request, for each of its attempts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

SPENT = (
    "its body can be read only once, and was read: give bytes, or a file that can be read from "
    "its beginning again"
)


class Body:
    """A body that each attempt gets as it is, such as bytes.

    Attributes:
        content: What the client is to send.
        begun: What can be read only once is being read.
    """

    begun = False

    def __init__(self, content: Any) -> None:
        self.content = content

    def give(self) -> None:
        """Make an attempt get all of it."""

    def spent(self) -> str:
        """Why it cannot be sent again, for a person; ``""``: it can."""
        return SPENT if self.begun else ""


class File(Body):
    """A file that is read from where it stood."""

    def __init__(self, content: Any, place: Any) -> None:
        super().__init__(content)
        self._place = place

    def give(self) -> None:
        """Go back to where it stood."""
        self.content.seek(self._place)


class Once(Body):
    """What can be read only once. It takes the place of what the client was given."""

    def __init__(self, content: Any) -> None:
        super().__init__(self)
        self._given = content

    def __iter__(self) -> Iterator[Any]:
        for part in self._given:
            self.begun = True
            yield part


class OnceRead(Once):
    """The same, with the method that makes it a file."""

    def read(self, *args: Any) -> Any:
        """What the file gives."""
        self.begun = True
        return self._given.read(*args)


def body_of(content: Any) -> Body:
    """What is known of a body as requests and urllib3 take it."""
    if content is None or isinstance(content, (bytes, str)):
        return Body(content)
    if hasattr(content, "read"):
        place = _place(content)
        return OnceRead(content) if place is None else File(content, place)
    try:
        memoryview(content)  # any other buffer is sent as bytes are
    except TypeError:
        return Once(content)
    return Body(content)


def _place(file: Any) -> Any:
    """Where a file stands; ``None``: it cannot be set back there. A pipe does not know, and
    an answer that is passed on knows, but reads only ahead.
    """
    try:
        place = file.tell()
        file.seek(place)
    except (AttributeError, TypeError, OSError):
        return None
    return place
