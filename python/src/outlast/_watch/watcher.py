"""Looks at each server that a call of this process waits for, for all of them at once."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from .._call.action import WakeBy
from .look import look
from .readiness import Seen
from .target import Level, Target

SHORTEST = 0.05
LONGEST = 0.15
"""Seconds between two looks, at least and at most. The first is short against a
person's patience and against what a look costs a server, the second still
notices a return within a sixth of a second (choices)."""

PATIENCE = 600
"""How much of the time that a server has been watched may pass until its return
is noticed (a choice): after 30 s the looks begin to be rarer."""

CONFIRMED = 0.05
"""Seconds between two good answers of a server that is ready: one that starts, or
is about to end, may give a single one (a choice)."""

IN_FLIGHT = 8
"""How many looks are under way at most. Where none is answered, one begins
whenever one of them may have ended."""

SPACED = 1.0 / IN_FLIGHT

FRESH = 1.0
"""Seconds for which a refusal counts as what the server does (a choice, above the
time between two looks)."""


class Watchers:
    """The watchers of this process, by target."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_target: dict[Target, Watcher] = {}

    def join(self, target: Target, eager: bool, news: Callable[[], None]) -> View:
        """Add a watch to the target's watcher, which begins with its first."""
        with self._lock:
            watcher = self._by_target.get(target)
            if watcher is None:
                watcher = self._by_target[target] = Watcher(target)
            return watcher.add(eager, news)

    def leave(self, watch: View) -> None:
        """Take a watch out. The watcher ends with its last one."""
        with self._lock:
            watcher = watch.watcher
            if watcher.remove(watch):
                self._by_target.pop(watcher.target, None)  # not there in the child of a fork

    def __len__(self) -> int:
        with self._lock:
            return len(self._by_target)


class Watcher:
    """Looks at one target for as long as a watch wants it."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._changed = threading.Condition()
        self._watches: set[View] = set()
        self._thread: threading.Thread | None = None
        self._looks = 0  # begun so far; the number of the last
        self._flying = 0  # under way
        self.latest = 0  # the number of the look that the level is from
        self.level = Level.UNANSWERED
        self.ended = 0.0  # when the last look ended that said something
        self._good: float | None = None  # when the first good look in a row began
        self._ready = False  # two of them, far enough apart
        self._busy: float | None = None  # since when it has answered 503
        self._denied = 0  # the status for which its health check is not asked for; 0: it is

    @property
    def lock(self) -> threading.Condition:
        """Guards what there is."""
        return self._changed

    def add(self, eager: bool, news: Callable[[], None]) -> View:
        with self._changed:
            watch = View(self, eager, news, self._looks)
            self._watches.add(watch)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="outlast-ready", daemon=True)
                self._thread.start()
            return watch

    def remove(self, watch: View) -> bool:
        """Whether it was the last."""
        with self._changed:
            if watch not in self._watches:
                return False
            self._watches.remove(watch)
            self._changed.notify()
            return not self._watches

    def _run(self) -> None:
        began = last = time.monotonic()
        with self._changed:
            while self._watches:
                now = time.monotonic()
                due = last + self._pause(last - began) if self._looks else now
                if now < due:
                    self._changed.wait(due - now)
                    continue
                last = now
                if self._flying < IN_FLIGHT:
                    self._flying += 1
                    self._looks += 1
                    threading.Thread(
                        target=self._look,
                        args=(self._looks, now),
                        name="outlast-look",
                        daemon=True,
                    ).start()

    def _pause(self, watched: float) -> float:
        pause = LONGEST
        if any(watch.eager for watch in self._watches):
            if self._busy is not None:  # about to be ready: the looks slow down anew
                watched = time.monotonic() - self._busy
            pause = min(max(watched / PATIENCE, SHORTEST), LONGEST)
        if self._good is not None and not self._ready:
            pause = CONFIRMED
        # Where looks are not answered they must not pile up.
        return max(pause, SPACED) if self._flying > 1 else pause

    def _look(self, number: int, began: float) -> None:
        target = self.target.port_only() if self._denied else self.target
        statuses: list[int] = []
        try:
            level = look(target, lambda: self._connected(number), statuses.append)
        except Exception:
            level = Level.UNANSWERED
        self._looked(number, began, level, statuses[-1] if statuses else 0)

    def _connected(self, number: int) -> None:
        """A look that goes on has a connection."""
        with self._changed:
            told = []
            if number >= self.latest:
                self.latest, self.level = number, max(self.level, Level.ACCEPTING)
                told = self._tell(number)
        for watch in told:
            watch.news()

    def _looked(self, number: int, began: float, level: Level, status: int) -> None:
        """What a look came to. One that began before the latest that said
        something has nothing to add.
        """
        with self._changed:
            self._flying -= 1
            told = []
            if number >= self.latest:
                self.latest, self.level, self.ended = number, level, time.monotonic()
                self._judge(began, level)
                self._heed(level, status)
                for watch in self._watches:
                    watch.saw(number, level)
                told = self._tell(number)
        for watch in told:
            watch.news()

    def _judge(self, began: float, level: Level) -> None:
        if level != Level.HEALTHY:
            self._good, self._ready = None, False
        elif self._good is None:
            self._good = began
            self._changed.notify()  # the next look is sooner than planned
        else:
            self._ready = self._ready or began - self._good >= CONFIRMED

    def _heed(self, level: Level, status: int) -> None:
        """Go by what the health check was answered with. One that is not there, or
        not for outlast, is not asked for again until the server has gone away: until
        then only its port is looked at.
        """
        if level == Level.HEALTHY or (level < Level.UNREADY and not status):
            self._denied = 0
        elif self.target.denies(status):
            self._denied = status
        if status != 503:
            self._busy = None
        elif self._busy is None:
            self._busy = time.monotonic()

    @property
    def why(self) -> str:
        """Why less is looked at than was asked for."""
        if not self._denied:
            return ""
        return f"the health check is answered {self._denied}, so that only the port is looked at"

    def _tell(self, number: int) -> list[View]:
        """The watches for which the server has risen."""
        now = Level.UNANSWERED
        if self._ready:
            now = Level.HEALTHY
        elif self.level >= Level.ACCEPTING:
            now = Level.ACCEPTING
        return [w for w in self._watches if number > w.since and w.rise(now)]


_WORDS: dict[Level, WakeBy] = {
    Level.ACCEPTING: "accepting",
    Level.HEALTHY: "ready",
}


class View:
    """One call's view of a watcher."""

    def __init__(self, watcher: Watcher, eager: bool, news: Callable[[], None], since: int) -> None:
        self.watcher = watcher
        self.eager = eager
        self.news = news
        self.since = since  # the number of the last look that began before it
        self._least: Level | None = None  # that a look which counts ended with
        self._rose = Level.UNANSWERED  # above that

    def saw(self, number: int, level: Level) -> None:
        if number > self.since:
            self._least = level if self._least is None else min(self._least, level)

    def rise(self, now: Level) -> bool:
        """Whether the server has risen further."""
        before, self._rose = self._rose, Level.UNANSWERED
        if self._least is not None and now > self._least and now >= Level.ACCEPTING:
            self._rose = now
        return self._rose > before

    def seen(self) -> Seen:
        w = self.watcher
        with w.lock:
            fresh = w.latest > self.since and time.monotonic() - w.ended <= FRESH
            return Seen(
                _WORDS.get(self._rose),
                down=fresh and w.level == Level.DOWN,
                not_ready=fresh and w.level == Level.LOADING,
                why=w.why,
            )

    def stop(self) -> None:
        _watchers.leave(self)


_watchers = Watchers()


def join(target: Target, eager: bool, news: Callable[[], None]) -> View:
    """Watch a target, with all others of this process that do."""
    return _watchers.join(target, eager, news)


def _forget() -> None:
    """A child of a fork has none of its parent's threads."""
    global _watchers
    _watchers = Watchers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
