"""What is known of a call that waits for a server."""

from __future__ import annotations

import time
from collections.abc import Callable

from .target import Level


class Waiter:
    """A call that waits for a server: of this process, or of one that follows it."""

    def __init__(
        self,
        eager: bool,
        news: Callable[[Level], None],
        since: int,
        *,
        remote: bool = False,
    ) -> None:
        self.eager = eager
        self.news = news
        self.since = since  # the number of the last look that began before it
        self.remote = remote
        self.number = 0  # tells those of a watcher apart
        self.began = time.monotonic()
        self.least: Level | None = None  # that a look which counts ended with
        self.risen = Level.UNANSWERED  # above that
        self.rose = Level.UNANSWERED  # what it was told of that, when its turn came
        self.by = Level.ACCEPTING  # the least that wakes it
        self.held = 0.0  # nothing does before
        self.says: float | None = None  # when its looker is told that it waits
        self.asks = False  # it has said so, and had no turn since
        self.dealt = False  # to one of a follower: it has to say again that it waits
        self.peeks: float | None = None  # when its process has to look itself

    def saw(self, number: int, level: Level) -> None:
        if number > self.since:
            self.least = level if self.least is None else min(self.least, level)

    def rise(self, now: Level) -> None:
        """Take how ready the server is."""
        self.risen = Level.UNANSWERED
        if self.least is not None and now > self.least and now >= Level.ACCEPTING:
            self.risen = now
        self.rose = min(self.rose, self.risen)
