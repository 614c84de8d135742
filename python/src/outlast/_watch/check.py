"""A turn is checked with one's own eyes before its call goes; docs/looking.md says why."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from .look import look
from .meeting import boot
from .sharer import Sharer
from .target import Level
from .waiter import Waiter
from .window import LEASE

IN_FLIGHT = 8
"""How many of these looks are under way at most. One that begins is for all turns that
have come until then."""


class Checks:
    """The turns that a looker has said, and whose calls do not go yet."""

    def __init__(self, watcher: Sharer, give_back: Callable[[Waiter], None]) -> None:
        self._watcher = watcher
        self._give_back = give_back  # is called with the watcher's lock held
        self._turns: dict[Waiter, Level] = {}  # that no look has begun for
        self._flying = 0

    def turn(self, number: int, level: Level, until: int) -> None:
        """It is a call's turn. One that comes too late is given back, and so is one of
        a call that is held off: its looker learned of it before. One that the call does
        not ask for any more is passed over.
        """
        with self._watcher.lock:
            view = self._watcher.line.get(number)
            if view is None or not view.asks:
                return
            view.asks = False
            if view.held > time.monotonic() or until <= boot() or level < view.by:
                self._give_back(view)
                return
            self._turns[view] = level
            if self._flying < IN_FLIGHT:
                self._begin()

    def _begin(self) -> None:
        self._flying += 1
        try:
            threading.Thread(target=self._run, name="outlast-look", daemon=True).start()
        except RuntimeError:  # there can be no more threads now
            self._flying -= 1
            while self._turns and not self._flying:
                self._give_back(self._turns.popitem()[0])

    def _run(self) -> None:
        while turns := self._taken():
            try:
                level = look(self._watcher.looks_at, quick=True)
            except Exception:
                level = Level.UNANSWERED
            for view in self._end(turns, level):
                view.news(view.rose)

    def _taken(self) -> dict[Waiter, Level]:
        with self._watcher.lock:
            turns, self._turns = self._turns, {}
            self._flying -= not turns
            return turns

    def _end(self, turns: dict[Waiter, Level], seen: Level) -> list[Waiter]:
        """Take what a look saw. The value are those that it lets go: for them one good look is
        enough, since the looker has made the others.
        """
        told = []
        with self._watcher.lock:
            for view, said in turns.items():
                if self._watcher.line.get(view.number) is not view:
                    continue  # it goes already
                view.saw(view.since + 1, seen)
                if seen < view.by:
                    self._give_back(view)
                else:
                    view.rose = min(seen, said)
                    # Unless it goes, as where it was woken between two waits.
                    view.says = time.monotonic() + LEASE
                    told.append(view)
        return told
