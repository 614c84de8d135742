"""What an exception is and says, without importing its package."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType


def is_a(error: object, package: str, *names: str) -> bool:
    """Whether an exception is of one of a package's classes, or of a subclass."""
    known = _names(type(error)).get(package)  # type: ignore[arg-type]  # a class is hashable
    return known is not None and not known.isdisjoint(names)


@lru_cache(maxsize=256)
def _names(kind: type) -> dict[str, set[str]]:
    """A class and its bases, by package. Many calls may fail at once, in the same way."""
    names: dict[str, set[str]] = {}
    for each in kind.__mro__:
        names.setdefault(each.__module__.partition(".")[0], set()).add(each.__name__)
    return names


def is_of(error: object, *packages: str) -> bool:
    """Whether an exception's own class is one of some packages'."""
    return type(error).__module__.partition(".")[0] in packages


def packages(what: object) -> frozenset[str]:
    """The packages that the class of an exception, or of anything, and its bases are of."""
    return frozenset(_names(type(what)))  # type: ignore[arg-type]  # a class is hashable


def frames(error: BaseException) -> Iterator[FrameType]:
    """What an exception has passed through, from where it was caught to where it began."""
    return (frame for frame, _ in traceback.walk_tb(error.__traceback__))


def passed(error: BaseException, *modules: str, function: str = "") -> bool:
    """Whether an exception has passed through one of some modules, or a function of theirs."""
    return any(
        frame.f_globals.get("__name__") in modules and function in ("", frame.f_code.co_name)
        for frame in frames(error)
    )


def line(error: BaseException) -> str:
    """An exception in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
