"""What a watcher is for those who share its looks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Protocol

from .line import Callers
from .readiness import How
from .target import Level, Target
from .waiter import Waiter


class Sharer(Protocol):
    """Looks at a server. Its methods take its lock, except where they say so."""

    target: Target
    line: Callers
    level: Level
    over: bool
    looked: int

    @property
    def looks_at(self) -> Target:
        """What a look is made at: less than its target where that denies more."""
        ...

    @property
    def lock(self) -> threading.Condition:
        """Guards what there is."""
        ...

    def peek(self) -> float:
        """Do what is due for the calls of a follower, and say when more is."""
        ...

    def look_anew(self) -> None:
        """Another looks from now on, or does no more; the lock is held."""
        ...

    def take(
        self, eager: bool, by: Level, least: Level | None, turn: Callable[[Level], None]
    ) -> Waiter:
        """Let a call of a follower wait."""
        ...

    def remove(self, view: Waiter) -> bool:
        """Take a call out that makes an attempt."""
        ...

    def lose(self, views: Iterable[Waiter]) -> None:
        """Take calls out of which no more is known."""
        ...

    def went(self, view: Waiter, how: How) -> None:
        """Take how an attempt ended."""
        ...
