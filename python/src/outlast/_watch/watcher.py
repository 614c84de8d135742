"""Looks at each server that a call of this process waits for, for all of them at once."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

from .._call.action import WakeBy
from .line import Callers
from .look import look
from .meeting import AloneError, boot
from .readiness import FRESH, How, Seen
from .share import BEFORE, Share
from .target import Level, Target
from .waiter import Waiter

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
"""How many looks are under way at most, where none is answered."""

SPACED = 1.0 / IN_FLIGHT

TURN, LINGER = 1.0, 10.0
"""Seconds that a watcher lives on to tell how its last attempt ended, or to see
others off to a server that is back."""


class Watchers:
    """The watchers of this process, by target."""

    def __init__(self) -> None:
        # A call that is thrown away ends wherever the interpreter collects it, so perhaps here.
        self._lock = threading.RLock()
        self._by_target: dict[Target, Watcher] = {}

    def join(self, target: Target, eager: bool, news: Callable[[], None]) -> View:
        """Add a watch to the target's watcher, which begins with its first."""
        with self._lock:
            while True:
                watcher = self._by_target.get(target) or Watcher(target)
                view = watcher.add(eager, news)
                if watcher._until is None:  # else what was thrown away meanwhile was its last
                    self._by_target[target] = watcher
                    return view
                watcher.remove(view)

    def leave(self, watch: View) -> None:
        """Take a watch out. The watcher is left with its last one."""
        with self._lock:
            watcher = watch.watcher
            if watcher.remove(watch) and self._by_target.get(watcher.target) is watcher:
                del self._by_target[watcher.target]

    def forget(self) -> None:
        """In the child of a fork: end what is the parent's."""
        for watcher in self._by_target.values():
            watcher.share.abandon()


class Watcher:
    """Looks at one target for as long as a watch wants it."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._changed = threading.Condition()
        self.line = Callers()
        self._until: float | None = None  # it lives on without calls; None: it does not
        self.over = False
        self.looked = 0  # when the last look began, by the clock of meeting.boot
        self.share = Share(self)
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
    def looks_at(self) -> Target:
        """What a look is made at: less than its target where that denies more."""
        return self.target.port_only() if self._denied else self.target

    @property
    def lock(self) -> threading.Condition:
        """Guards what there is."""
        return self._changed

    def add(self, eager: bool, news: Callable[[], None]) -> View:
        """A watch for a call of this process; RuntimeError if no thread can be started."""
        with self._changed:
            view = View(self, eager, news, self._looks)
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="outlast-ready", daemon=True)
                thread.start()
                self._thread = thread
            self.share.start()
            self.line.enter(view)
            self.share.wait(view)
            return view

    def take(
        self, eager: bool, by: Level, least: Level | None, turn: Callable[[Level], None]
    ) -> Waiter:
        """Let a call of a follower wait."""
        with self._changed:
            view = Waiter(eager, turn, self._looks, remote=True)
            view.by, view.least = by, least
            self.line.enter(view)
            self._changed.notify()
            return view

    def remove(self, view: Waiter) -> bool:
        """Take a watch out, whose call makes an attempt: at a server that is there
        that is a turn. The value is whether it was the last of this process.
        """
        with self._changed:
            if not self.line.leave(view):
                return False
            self.share.goes(view)
            self._rest()
            self._changed.notify()
            return not view.remote and self.line.locals == 0

    def lose(self, views: Iterable[Waiter]) -> None:
        """Take out what is known no more of. The places that they had are free, and given once:
        a connection may end with thousands of calls.
        """
        with self._changed:
            for view in views:
                self.remove(view)
                self.line.window.out.pop(view, None)
            told = self._deal()
        _tell(told)

    def _rest(self) -> None:
        """End when no call needs it any more."""
        if self.line.locals or self._thread is None:
            return
        wanted = 0.0
        if self.share.pending:
            wanted = TURN
        elif self.line and self.line.up:  # all in it are followers' calls
            wanted = LINGER
        if not wanted:
            self._until = 0.0
        elif self._until is None:
            self._until = time.monotonic() + wanted
        self._changed.notify()

    def peek(self) -> float:
        """Look with one's own eyes before an attempt of the schedule is due, and tell
        the looker of calls that were put off. The value is when that is next to do.
        """
        with self._changed:
            now, upcoming, looks = time.monotonic(), time.monotonic() + 1.0, False
            for view in self.line:
                if view.says is not None and view.says <= now:
                    self.share.wait(view)
                if view.peeks is not None and view.peeks <= now:
                    view.peeks, looks = None, self.share.follows
                upcoming = min(upcoming, view.peeks or upcoming)
                upcoming = min(upcoming, view.says or upcoming)
            if looks:
                self._begin(now)
            return upcoming

    def look_anew(self) -> None:
        """Another looks from now on, or does no more."""
        self.line.anew(False)
        self._changed.notify()

    def went(self, view: Waiter, how: How) -> None:
        """Take how an attempt ended."""
        with self._changed:
            self.line.window.went(view, how, time.monotonic())
            self.share.went(view, how)
            told = self._deal()
            self._rest()
        _tell(told)

    def _run(self) -> None:
        began = last = time.monotonic()
        with self._changed:
            while self._until is None or time.monotonic() < self._until:
                now = time.monotonic()
                due = last + self._pause(last - began) if self._looks else now
                if now < due:
                    self._changed.wait(min(due, self._until or due) - now)
                    continue
                last = now
                self._begin(now)
            self.over = True
            self.share.poke()

    def _begin(self, now: float) -> None:
        if self._flying < IN_FLIGHT:
            self._flying += 1
            self._looks += 1
            with suppress(AloneError):
                self.looked = boot()
            looks = partial(self._look, self._looks, now)
            try:
                threading.Thread(target=looks, name="outlast-look", daemon=True).start()
            except RuntimeError:  # there can be no more threads now: the next look may have one
                self._flying -= 1

    def _pause(self, watched: float) -> float:
        if self.share.follows:
            return 1.0 + time.monotonic()  # never, until that changes
        pause = LONGEST
        if any(view.eager for view in self.line):
            if self._busy is not None:  # about to be ready: the looks slow down anew
                watched = time.monotonic() - self._busy
            pause = min(max(watched / PATIENCE, SHORTEST), LONGEST)
        if self._good is not None and not self._ready:
            pause = CONFIRMED
        # Where looks are not answered they must not pile up.
        return max(pause, SPACED) if self._flying > 1 else pause

    def _look(self, number: int, began: float) -> None:
        statuses: list[int] = []
        try:
            level = look(self.looks_at, statuses.append)
        except Exception:
            level = Level.UNANSWERED
        self._looked(number, began, level, statuses[-1] if statuses else 0)

    def _looked(self, number: int, began: float, level: Level, status: int) -> None:
        """What a look came to. Another that began later may have said more."""
        with self._changed:
            self._flying -= 1
            told = []
            if number >= self.latest:
                self.latest, self.level, self.ended = number, level, time.monotonic()
                self._judge(began, level)
                self._heed(level, status)
                for view in self.line:
                    view.saw(number, level)
                told = self._tell(number)
        _tell(told)

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

    def _deal(self) -> list[Waiter]:
        return [] if self.share.follows else self.line.deal()  # else another gives the turns

    def _tell(self, number: int) -> list[Waiter]:
        """The watches for which the server has risen."""
        now = Level.UNANSWERED
        if self._ready:
            now = Level.HEALTHY
        elif self.level >= Level.ACCEPTING:
            now = Level.ACCEPTING
        if (up := now >= Level.ACCEPTING) != self.line.up:
            self.line.anew(up)
            self._rest()
        for view in self.line:
            if number > view.since:
                view.rise(now)
        return self._deal()


def _tell(told: list[Waiter]) -> None:
    for view in told:
        view.news(view.rose)


_WORDS: dict[Level, WakeBy] = {Level.ACCEPTING: "accepting", Level.HEALTHY: "ready"}


class View(Waiter):
    """A watch for a call of this process."""

    def __init__(self, watcher: Watcher, eager: bool, news: Callable[[], None], since: int) -> None:
        super().__init__(eager, lambda _: news(), since)
        self.watcher = watcher

    def waits(self, by: WakeBy, held: float, rest: float) -> None:
        """A wait begins."""
        w, now = self.watcher, time.monotonic()
        with w.lock:
            least = Level.HEALTHY if by == "ready" else Level.ACCEPTING
            changed = least != self.by
            self.by, self.held = least, now + held if held > 0 else 0.0
            self.peeks = now + max(0.0, rest - BEFORE)
            if held > 0:
                self.says = self.held
            elif changed:
                w.share.wait(self)
            w.share.poke()

    def went(self, how: How) -> None:
        """How the attempt ended that followed."""
        self.watcher.went(self, how)

    def seen(self) -> Seen:
        w = self.watcher
        with w.lock:
            fresh = w.latest > self.since and time.monotonic() - w.ended <= FRESH
            return Seen(
                _WORDS.get(self.rose),
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
    _watchers.forget()
    _watchers = Watchers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
