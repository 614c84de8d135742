"""A call's watch of its server, with the wait that it may cut short."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .._call.action import Wake, WakeBy
from .._call.known import line

if TYPE_CHECKING:
    from .._plugin.plugin import Plugin
    from .._watch.readiness import How, Readiness, Turns

MINOR_DOWN = 1
MINOR_NOT_READY = 2
"""The minor versions of the contract that brought the events."""


class CallWatch:
    """A call's watch, from one attempt to the next."""

    def __init__(self, ready: Readiness, wake: Wake) -> None:
        self._news: Callable[[], None] = _nothing
        self._watch = ready.watch(wake.after == 0, self._tell)

    def _tell(self) -> None:
        self._news()

    def stop(self) -> Turns | None:
        """Watch no more. The value is whom to tell how the attempt ends, if anybody."""
        from .._watch.readiness import Turns

        self._watch.stop()
        return self._watch if isinstance(self._watch, Turns) else None

    def waits(self, by: WakeBy, held: float, rest: float) -> None:
        """A wait begins."""
        from .._watch.readiness import Turns

        if isinstance(self._watch, Turns):
            self._watch.waits(by, held, rest)

    @property
    def why(self) -> str:
        """Why less is looked at than was asked for."""
        return self._watch.seen().why

    def left_out(self, plugin: Plugin) -> Literal["down", "not_ready"] | None:
        """Why an attempt now would fail, in a word that the plugin knows."""
        seen = self._watch.seen()
        if seen.down and plugin.knows(MINOR_DOWN):
            return "down"
        if seen.not_ready and plugin.knows(MINOR_NOT_READY):
            return "not_ready"
        return None

    def enough(self, by: WakeBy) -> WakeBy | None:
        """How ready the server came to be; ``None`` where that is too little."""
        rose = self._watch.seen().rose
        return rose if rose in ("ready", by) else None

    def hear(self, news: Callable[[], None] | None) -> None:
        """Be told on another thread when there may be something new to see."""
        self._news = news or _nothing


def _nothing() -> None:
    pass


class Watching:
    """What a call has of watches: one between two attempts, where there are any."""

    def __init__(self, ready: Readiness | None) -> None:
        self._ready = ready
        self._watch: CallWatch | None = None
        self._turn: Turns | None = None  # who has to hear how the attempt ends
        self.why = ""  # nobody watches the server of a wait that may be cut short

    def begin(self, wake: Wake | None) -> CallWatch | None:
        """Watch for a wait that may be cut short, if the call can. What cannot look does
        not end the call.
        """
        if wake is None or self._ready is None:
            return None
        if self._watch is None:
            self.went("left")
            try:
                self._watch = CallWatch(self._ready, wake)
            except Exception as e:  # such as for want of threads
                self.why = f"nobody looks at the server: {line(e)}"
        return self._watch

    def end(self) -> None:
        """Watch no more: an attempt follows, or the call's end."""
        if self._watch is not None:
            self._turn, self._watch = self._watch.stop(), None

    def went(self, how: How) -> None:
        """Tell the last watch, once, how the attempt after it ended."""
        if self._turn is not None:
            self._turn.went(how)
            self._turn = None

    def over(self, outcome: str) -> None:
        """The call is over, with an outcome of a type."""
        self.end()
        if outcome in ("exhausted", "indeterminate"):
            self.went("failed")
        self.went("left" if outcome == "cancelled" else "answered")


@dataclass(frozen=True)
class WatchedWait:
    """Wait for so many seconds, or until the server is ready enough, but for the
    first of them in any case. The value is how ready it is, if it is; ``None``
    after the whole wait.
    """

    watch: CallWatch
    seconds: float
    held: float
    by: WakeBy

    def wait(self) -> WakeBy | None:
        """Wait on this thread."""
        end = time.monotonic() + self.seconds
        time.sleep(self.held)
        heard = threading.Event()
        self.watch.hear(heard.set)
        try:
            while True:
                heard.clear()
                woken, left = self.watch.enough(self.by), end - time.monotonic()
                if woken or left <= 0:
                    return woken
                heard.wait(left)
        finally:
            self.watch.hear(None)

    async def await_(self) -> WakeBy | None:
        """Wait in this task of an event loop."""
        from .._time.event_loop import Signal, sleep

        end = time.monotonic() + self.seconds
        if self.held:
            await sleep(self.held)
        heard = Signal()
        self.watch.hear(heard.set)
        try:
            while True:
                heard.clear()
                woken, left = self.watch.enough(self.by), end - time.monotonic()
                if woken or left <= 0:
                    return woken
                await heard.wait(left)
        finally:
            self.watch.hear(None)
