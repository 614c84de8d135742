"""Whose turn it is to go to a server that is back; docs/looking.md has the rules."""

from __future__ import annotations

from .readiness import How
from .waiter import Waiter

LEASE = 1.0
"""Seconds that a turn lasts which is not told of (a choice)."""

BUSY, FULL = 3, 6
"""How many times as long as the fastest an attempt takes where no more, and where
fewer should be under way (choices)."""

PAUSES = 2
"""How often the pause after failures doubles, from one second on."""


class Window:
    """Those that are under way: their number is 1 at the return, and grows as they
    are answered.
    """

    def __init__(self) -> None:
        self.size = 1
        self.out: dict[Waiter, tuple[float, float]] = {}  # since when, and the attempt's beginning
        self._fastest = 0.0  # of those that were answered; 0: none was
        self._failed = 0  # in a row
        self._held = 0.0  # no turn is given before

    def free(self, now: float) -> bool:
        """Whether another may go."""
        return len(self.out) < self.size and now >= self._held

    def begin(self, view: Waiter, now: float) -> None:
        """Have a turn be under way: as it is given, and again as the attempt begins. What
        passes between, such as a look, says nothing of how fast the server answers.
        """
        taken, _ = self.out.get(view, (now, now))
        self.out[view] = taken, now

    def went(self, view: Waiter, how: How, now: float) -> None:
        """Take how an attempt ended."""
        turn = self.out.pop(view, None)
        if turn is None:
            return
        if how == "answered":
            self._answered(now - turn[1])
        elif how == "failed":
            self.size //= 2
            if self.size == 0:
                self.size = 1
                self._held = now + float(1 << min(self._failed, PAUSES))
                self._failed += 1

    def _answered(self, took: float) -> None:
        self._failed = 0
        if not self._fastest or took < self._fastest:
            self._fastest = took
        if took < BUSY * self._fastest:
            self.size += 1
        elif took > FULL * self._fastest:
            self.size = max(1, self.size - 1)

    def expire(self, now: float) -> None:
        """Free the places of those who said nothing for too long. Before anything was
        answered that lets more go, since attempts may just take long; later fewer.
        """
        for view in list(self.out):
            if now - self.out.get(view, (now, now))[0] < LEASE:
                continue
            self.out.pop(view, None)
            self.size = max(1, self.size + (-1 if self._fastest else 1))
