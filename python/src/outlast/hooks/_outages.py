"""Log lines of many calls in one outage: those of the first call, and counts of the rest."""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable

from .._call.call import Call
from ..events import Event, LeftOut, Repairing, Stopped, Waiting
from ._hook import CallHook, PerCallHook
from ._lines import Line, line_of

EVERY = 5.0
"""Seconds of real time between two lines that count (a choice)."""

ALWAYS_TOLD = ("exhausted", "indeterminate")
"""Outcomes that a person has to look at: each has a line of its own."""


class LogHook(PerCallHook):
    """Writes lines. Of the calls that wait at the same time by one policy and for one kind
    of failure, it writes all lines of the first; the others are counted in a line at most
    every five seconds, and in one when the last of them has ended. A call that is
    exhausted or indeterminate has its own line in any case.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._forget()
        _all.add(self)

    def _forget(self) -> None:
        # A call that is thrown away ends wherever the interpreter collects it, so perhaps here.
        self._lock = threading.RLock()
        self._outages: dict[tuple[str, str], Outage] = {}

    def begin(self, call: Call, policy: str, command: str) -> CallHook:  # noqa: ARG002
        """Write of this call."""
        return LoggedCall(self)

    @abstractmethod
    def write(self, line: Line) -> None:
        """Write a line."""

    def _join(self, wait: Waiting) -> tuple[Outage, bool]:
        """The outage that a call waits for, and whether the call is its first."""
        key = (wait.policy, wait.kind)
        with self._lock:
            outage = self._outages.get(key)
            first = outage is None
            if outage is None:
                outage = self._outages[key] = Outage(key, self._now() + EVERY)
            outage.waiting += 1
            outage.counted += not first
        return outage, first

    def _count(self, outage: Outage) -> Line | None:
        """A line that counts those who wait, if it is time for one."""
        with self._lock:
            if self._now() < outage.next_line:
                return None
            outage.next_line = self._now() + EVERY
            left = outage.counted - sum(outage.ends.values())
            return outage.line(logging.WARNING, f"have waited, {left} of them still do")

    def _leave(self, outage: Outage, how: str, first: bool) -> Line | None:
        """A line on those who were counted, after the last call's end; ``None`` if there
        were none.
        """
        with self._lock:
            outage.waiting -= 1
            if not first:
                outage.ends[how] += 1
            if outage.waiting:
                return None
            self._outages.pop(outage.key, None)
            return outage.line(logging.INFO, "waited") if outage.counted else None


class Outage:
    """Calls that wait at the same time, by one policy and for one kind of failure."""

    def __init__(self, key: tuple[str, str], next_line: float) -> None:
        self.key = key
        self.next_line = next_line
        self.waiting = 0  # have not ended
        self.counted = 0  # all but the first
        self.ends: Counter[str] = Counter()  # of these, how so many have ended

    def line(self, level: int, text: str) -> Line:
        """A line on those who are counted."""
        policy, kind = self.key
        ends = dict(sorted(self.ends.items(), key=lambda end: (-end[1], end[0])))
        text = f"{self.counted} more calls {text}"
        if ends:
            text += "; " + ", ".join(f"{count} {how}" for how, count in ends.items())
        fields = {"kind": kind, "calls": self.counted, "outcomes": ends, "policy": policy}
        return Line(level, text, fields)


class LoggedCall(CallHook):
    """Writes of one call. It stays in the outage in which it began to wait, whatever it
    waits for after that.
    """

    def __init__(self, hook: LogHook) -> None:
        self._hook = hook
        self._outage: Outage | None = None
        self._first = True
        self._left_out: set[bool] = set()

    def __call__(self, event: Event) -> None:
        """Write of the event, or count it."""
        if isinstance(event, Waiting) and self._outage is None:
            self._outage, self._first = self._hook._join(event)
        line = line_of(event) if self._first or _is_own(event) else None
        if isinstance(event, LeftOut):  # each wait that follows says "still"
            line = None if event.not_ready in self._left_out else line
            self._left_out.add(event.not_ready)
        if not self._first and isinstance(event, Waiting) and self._outage is not None:
            line = self._hook._count(self._outage)
        if line is not None:
            self._hook.write(line)
        if isinstance(event, Stopped):
            self._leave(event.outcome.type)

    def end(self, error: BaseException | None) -> None:
        """The call is over, with an outcome or without."""
        self._leave("without an outcome" if error is None else type(error).__qualname__)

    def _leave(self, how: str) -> None:
        outage, self._outage = self._outage, None
        line = None if outage is None else self._hook._leave(outage, how, self._first)
        if line is not None:
            self._hook.write(line)


def _is_own(event: Event) -> bool:
    """Whether it has a line though the call is counted with others."""
    if isinstance(event, Stopped):
        return event.outcome.type in ALWAYS_TOLD
    return not isinstance(event, LeftOut | Repairing)


_all: weakref.WeakSet[LogHook] = weakref.WeakSet()


def _after_fork() -> None:
    """The calls of the parent's other threads do not end here."""
    for hook in _all:
        hook._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
