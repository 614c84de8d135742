"""The way into the engine, for threads and for forks."""

from __future__ import annotations

import threading


class Gate:
    """Lets so many threads into the engine at once, and none while the process
    forks: the child has but one thread, and a lock that another one held in the
    engine would stay locked there for ever.

    A thread that is inside may go in again. One that forks, as a signal's handler
    may, waits for the others only.

    Args:
        most: How many threads may be inside, at least 1.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.reopen()

    def reopen(self) -> None:
        """Start over, in a child that was forked: none of the others is there."""
        self._changed = threading.Condition()
        self._inside = 0
        self._forking = 0
        self._own = _Own()

    def __enter__(self) -> None:
        own = self._own
        if own.depth == 0:
            with self._changed:
                while self._forking or self._inside >= self._most:
                    self._changed.wait()
                self._inside += 1
        own.depth += 1

    def __exit__(self, *_: object) -> None:
        own = self._own
        own.depth -= 1
        if own.depth == 0:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Before a fork: wait until no other thread is inside, and keep them out."""
        with self._changed:
            self._forking += 1
            while self._inside > (self._own.depth > 0):
                self._changed.wait()

    def open(self) -> None:
        """After it, in the parent."""
        with self._changed:
            self._forking -= 1
            self._changed.notify_all()


class _Own(threading.local):
    """What a thread knows of itself."""

    depth = 0
