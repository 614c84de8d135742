"""Those who wait for a server, in the order in which they came."""

from __future__ import annotations

import time
from collections.abc import Iterator

from .target import Level
from .waiter import Waiter
from .window import LEASE, Window

HOLDS = 0.3
"""Seconds that a look holds: twice the longest time between two."""


class Callers:
    """The line before a server, and whose turn it is. Its watcher's lock guards it."""

    def __init__(self) -> None:
        self._waiters: dict[int, Waiter] = {}
        self._numbers = 0  # given to them
        self._up = False  # the server is, as far as was seen last
        self.locals = 0  # of them are this process's own
        self.window = Window()
        self._dealt = time.monotonic()  # when a turn could last be given

    def __iter__(self) -> Iterator[Waiter]:
        # A copy: one that is thrown away may leave in the midst of a loop over them.
        return iter(list(self._waiters.values()))

    def __len__(self) -> int:
        return len(self._waiters)

    @property
    def up(self) -> bool:
        """Whether the server is there, as far as was seen last."""
        return self._up

    def get(self, number: int) -> Waiter | None:
        """The one with a number."""
        return self._waiters.get(number)

    def waiting(self) -> list[Waiter]:
        """Those of this process that would be woken."""
        now = time.monotonic()
        return [w for w in self if not w.remote and w.held <= now]

    def hears(self, level: Level, asked: float) -> None:
        """Have those that waited already remember what a looker saw."""
        for waiter in self:
            if asked - waiter.began > HOLDS:
                waiter.saw(waiter.since + 1, level)

    def enter(self, waiter: Waiter) -> None:
        """Go to the end."""
        self._numbers += 1
        waiter.number = self._numbers
        self._waiters[waiter.number] = waiter
        self.locals += not waiter.remote

    def leave(self, waiter: Waiter) -> bool:
        """Make an attempt: at a server that is there that is a turn. The value is
        whether it was in the line.
        """
        if self._waiters.pop(waiter.number, None) is None:
            return False
        self.locals -= not waiter.remote
        if self._up:
            self.window.begin(waiter, time.monotonic())
        return True

    def anew(self, up: bool) -> None:
        """The server came or went, or another gives the turns from now on."""
        self._up, self.window, self._dealt = up, Window(), time.monotonic()

    def deal(self) -> list[Waiter]:
        """Give the turns that are free. The last own call of this process comes last:
        the process may end with it, and all looks.
        """
        now = time.monotonic()
        if now - self._dealt > LEASE:
            self.window = Window()  # the process was stopped: all places would be free at once
        self._dealt, window = now, self.window
        window.expire(now)
        told: list[Waiter] = []
        last: Waiter | None = None
        for caller in self:
            out = caller in window.out  # then it has its place, and the server is readier
            if caller.held > now or caller.risen <= caller.rose or caller.risen < caller.by:
                continue
            if caller.dealt:
                continue
            if not out and not window.free(now):
                return told
            if not out and not caller.remote and self.locals == 1:
                last = caller
                continue
            told.append(self._give(caller, now))
        if last is not None and window.free(now):
            told.append(self._give(last, now))
        return told

    def _give(self, caller: Waiter, now: float) -> Waiter:
        self.window.begin(caller, now)
        caller.rose, caller.dealt = caller.risen, caller.remote
        return caller
