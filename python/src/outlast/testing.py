"""For tests of programs that use this package: no sleeping, and a clock that
moves only when it is slept on.

::

    def test_rides_out_a_restart():
        with outlast.testing.virtual_time() as clock:
            assert fetch() == "answer"   # a decorated function
            assert clock.slept == [0.5]  # with jitter, a little more

All of a process's calls are on that clock then, whatever thread they are on,
unless they are given one of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ._run import limits
from ._time.clock import SystemClock, replace


class VirtualClock(SystemClock):
    """A clock that starts at 0 and moves only when it is slept on or advanced.
    Threads may share it, but then they share its time too.
    """

    def __init__(self, now: float = 0.0) -> None:
        self._lock = threading.Lock()
        self._now = now
        self._slept: list[float] = []

    def now(self) -> float:
        """The virtual time in seconds."""
        with self._lock:
            return self._now

    def sleep(self, seconds: float) -> None:
        """Move the clock, and return at once."""
        with self._lock:
            self._now += seconds
            self._slept.append(seconds)

    async def asleep(self, seconds: float) -> None:
        """Move the clock, and let other tasks run once."""
        self.sleep(seconds)
        from ._time.event_loop import sleep

        await sleep(0)

    def advance(self, seconds: float) -> None:
        """Move the clock without a sleep, as an attempt that takes long does.
        A negative number moves it back: clocks do that.
        """
        with self._lock:
            self._now += seconds

    @property
    def slept(self) -> list[float]:
        """All sleeps so far, in seconds."""
        with self._lock:
            return list(self._slept)


@contextmanager
def virtual_time(now: float = 0.0) -> Iterator[VirtualClock]:
    """Put all calls on a virtual clock for a while.

    Args:
        now: What it shows at first, in seconds.
    """
    clock = VirtualClock(now)
    before = replace(clock)
    try:
        yield clock
    finally:
        replace(before)


@contextmanager
def no_retries() -> Iterator[None]:
    """Let each call of the process make one attempt for a while. Its failure ends as ever,
    such as in ``Exhausted``, with nothing waited for. ``Policy.run_in_plugin`` and sessions
    go on: there the plugin or the caller drives.
    """
    before = limits.turn(True)
    try:
        yield
    finally:
        limits.turn(before)


__all__ = ["VirtualClock", "no_retries", "virtual_time"]
