"""What happens to a call, with typed details, for hooks.

The events of one call come in order, on the thread or in the task that makes
the call. Times are seconds on the call's clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ._call.action import WakeBy
from ._call.call import Call
from ._call.outcome import Outcome
from ._call.result import Result

if TYPE_CHECKING:
    from ._policy.folder import Release


@dataclass(frozen=True, kw_only=True)
class Event:
    """What all events have.

    Attributes:
        call: What the call is.
        policy: The name of its policy.
        command: Base name of the program that it runs; ``""``: it runs a function.
    """

    call: Call
    policy: str
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class AttemptEnded(Event):
    """Follows each attempt.

    Attributes:
        attempt: Its number, counted from 1.
        at: When.
        ok: Whether it succeeded.
        result: How it ended, with the call's secrets taken out.
    """

    attempt: int
    at: float
    ok: bool
    result: Result


@dataclass(frozen=True, kw_only=True)
class PolicyInForce(Event):
    """Follows the first failure of a call whose policy is followed: what it goes by
    from here on.

    Attributes:
        digest: The policy's, as ``Policy.digest`` has it.
        release: Where it comes from: serial, source, since when, until when. ``None``: it
            is the one that comes with outlast.
        why: Why what is in the folder now is not it; ``None``: it is.
    """

    digest: str
    release: Release | None
    why: Exception | None


@dataclass(frozen=True, kw_only=True)
class Waiting(Event):
    """Precedes each wait, and so names the failure that it is for.

    Attributes:
        kind: What the failure was.
        budget: The budget that the retry counts on.
        attempt: The number of the attempt that follows.
        delay: Seconds until it, from the end of the attempt before.
        remaining: Seconds left of the budget's window; ``None`` if it has none.
        at: When.
        watched: What of the server cuts the wait short; ``None``: nobody watches.
        again: It goes on from another wait for the same attempt, after
            :class:`Woken` or :class:`LeftOut`.
    """

    kind: str
    budget: str
    attempt: int
    delay: float
    remaining: float | None
    at: float
    watched: WakeBy | None = None
    again: bool = False


@dataclass(frozen=True, kw_only=True)
class Woken(Event):
    """A wait was cut short, since the server is back.

    Attributes:
        by: How much of an answer was seen.
        at: When.
    """

    by: WakeBy
    at: float


@dataclass(frozen=True, kw_only=True)
class LeftOut(Event):
    """A wait is over and the server seen to be down, or there but not ready, so
    that the attempt would fail. The policy may want it all the same.

    Attributes:
        at: When.
        not_ready: The server is there, and not ready yet.
    """

    at: float
    not_ready: bool = False


@dataclass(frozen=True, kw_only=True)
class Unwatched(Event):
    """Less of the server is looked at than ``ready`` asks for. It comes once a call.

    Attributes:
        why: Why, such as a health check that is answered 404.
        at: When.
    """

    why: str
    at: float


@dataclass(frozen=True, kw_only=True)
class Repairing(Event):
    """Precedes each repair.

    Attributes:
        kind: What the failure was.
        force: Whether the repair is forced.
        at: When.
    """

    kind: str
    force: bool
    at: float


@dataclass(frozen=True, kw_only=True)
class Loaded(Event):
    """The call's first failure has loaded the plugin.

    Attributes:
        cache: The directory where its compiled code is kept; ``None``: nowhere.
        why: Why nowhere, or ``""``.
        took: Seconds of real time.
    """

    cache: Path | None
    why: str
    took: float


@dataclass(frozen=True, kw_only=True)
class InstanceReplaced(Event):
    """An instance of the plugin failed; the call goes on with another.

    Attributes:
        error: How it failed.
    """

    error: Exception


@dataclass(frozen=True, kw_only=True)
class Stopped(Event):
    """A call's last event, unless an exception that no policy knows ended it.

    Attributes:
        outcome: How it ended, with the call's secrets taken out.
        at: When.
    """

    outcome: Outcome
    at: float


__all__ = [
    "AttemptEnded",
    "Event",
    "InstanceReplaced",
    "LeftOut",
    "Loaded",
    "PolicyInForce",
    "Repairing",
    "Stopped",
    "Unwatched",
    "Waiting",
    "Woken",
]
