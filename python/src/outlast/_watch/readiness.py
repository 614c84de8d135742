"""What a call sees of its server while it waits, and what lets it see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from .._call.action import WakeBy

FRESH = 1.0
"""Seconds for which a refusal counts as what the server does (a choice, above the
time between two looks)."""


@dataclass(frozen=True)
class Seen:
    """What a watch has seen of a server.

    Attributes:
        rose: How ready the server is, if an earlier look saw less of it; ``None``
            otherwise: one that was never seen away did not come back.
        down: The last look ended lately, and was refused, found no way to the
            server, or no such name.
        not_ready: The last look ended lately, and was answered: the server is
            there, and not ready yet. It is said only of what waiting helps.
        why: Why less is looked at than was asked for, such as a health check that
            is answered 404; empty: nothing is left out.
    """

    rose: WakeBy | None = None
    down: bool = False
    not_ready: bool = False
    why: str = ""


class Watch(Protocol):
    """What one call sees of a server between two attempts. Only looks that began
    after the watch did count.
    """

    def seen(self) -> Seen:
        """What it has seen so far."""
        ...

    def stop(self) -> None:
        """Look no more."""
        ...


How = Literal["answered", "failed", "left"]
"""How an attempt ended for those who wait for the same server: the server has done
with it; the call waits again, or was given up; or neither is known."""


@runtime_checkable
class Turns(Protocol):
    """What a watch may be besides: one by which the callers of a server that is back
    go to it one after another.
    """

    def waits(self, by: WakeBy, held: float, rest: float) -> None:
        """A wait begins that is over after *rest* seconds. *by*, or ``"ready"``,
        cuts it short, but not before *held* seconds.
        """
        ...

    def went(self, how: How) -> None:
        """How the attempt ended that was made after the watch was stopped."""
        ...


class Readiness(Protocol):
    """Looks whether a server is back."""

    def watch(self, eager: bool, news: Callable[[], None]) -> Watch:
        """Begin to look, until the watch is stopped.

        Args:
            eager: Look as often as there is use in it; ``False``, after a wake
                that led to no success: as seldom as ever.
            news: Is called, on any thread, after each look that may have changed
                what is seen. It does not block.
        """
        ...
