"""What the events of one call add up to."""

from __future__ import annotations

from .._call.action import WakeBy
from ..events import AttemptEnded, Event, LeftOut, Repairing, Stopped, Waiting, Woken


class Figures:
    """Sums of one call.

    Attributes:
        wait: Seconds of the wait that ended last; ``None``: the last attempt followed none.
        waited: Seconds of all waits that ended; ``None``: there was no wait.
        woken: How ready the server was that cut that wait short; ``None``: nothing did.
        vain: Whether the last attempt was woken, failed, and is waited for again.
        used: The share of its window that the fullest budget has used, at most 1;
            ``None``: none has a window.
    """

    def __init__(self) -> None:
        self.wait: float | None = None
        self.waited: float | None = None
        self.woken: WakeBy | None = None
        self.vain = False
        self.used: float | None = None
        self._since: float | None = None  # when the last attempt or repair was over
        self._waits = False
        self._windows: dict[str, float] = {}  # seconds, by budget
        self._last: tuple[float, float] | None = None  # a window, and when it opened

    def attempt(self, at: float) -> None:
        """An attempt begins, so a wait has ended."""
        if not self._waits:
            self.woken = None
        self._waited_until(at)

    def hear(self, event: Event) -> None:
        """An event of the call."""
        match event:
            case AttemptEnded():
                self._since = event.at
            case Repairing():
                self._since = None
            case Waiting(again=False):
                self.vain = self.woken is not None
                self.woken, self._waits = None, True
                if self._since is None:
                    self._since = event.at
                self._open(event)
            case Woken():
                self.woken = event.by
            case Waiting() | LeftOut():  # no attempt came of it
                self.woken = None
            case Stopped():
                self._use(event.at)
                self._waited_until(event.at)

    def _waited_until(self, at: float) -> None:
        self.wait = None
        if self._waits and self._since is not None:
            self.wait = max(0.0, at - self._since)  # a clock may go backwards
            self.waited = (self.waited or 0.0) + self.wait
        self._waits = False

    def _open(self, wait: Waiting) -> None:
        self._last = None
        if wait.remaining is None:
            return
        # A window is untouched at its first wait, and no event says its length.
        window = max(self._windows.get(wait.budget, 0.0), wait.remaining)
        self._windows[wait.budget] = window
        self._last = window, wait.at - (window - wait.remaining)
        self._use(wait.at)

    def _use(self, at: float) -> None:
        if self._last is not None:
            window, opened = self._last
            self.used = max(self.used or 0.0, min(1.0, (at - opened) / window if window else 1.0))
