"""The time that policies live by, unless a caller brings its own."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

Now = Callable[[], float]
"""Gives seconds since some fixed moment, monotonic if it can be."""

Sleep = Callable[[float], object]
"""Waits for so many seconds."""

AsyncSleep = Callable[[float], Awaitable[object]]
"""Waits for so many seconds without holding up its event loop."""


class SystemClock:
    """The real time."""

    def now(self) -> float:
        """Seconds since some fixed moment."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    def asleep(self, seconds: float) -> Awaitable[None]:
        """Wait without holding up the event loop."""
        from .event_loop import sleep

        return sleep(seconds)


_system = SystemClock()
_current: SystemClock = _system


def current() -> SystemClock:
    """The clock in force: the real one, or that of :mod:`outlast.testing`."""
    return _current


def is_real() -> bool:
    """Whether the clock in force is the real one."""
    return _current is _system


def replace(clock: SystemClock | None) -> SystemClock:
    """Put another clock in force for the whole process, ``None`` for the real
    one, and get the one that was.
    """
    global _current
    before, _current = _current, clock or _system
    return before


def now() -> float:
    """Seconds on the clock in force."""
    return _current.now()
