"""What a policy wants next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .._wire import values as wire
from .outcome import Outcome, read_outcome

WakeBy = Literal["accepting", "ready"]
"""How much of an answer was seen from a server: it accepted a connection, or it
answered its health check as expected, twice. The second implies the first."""


@dataclass(frozen=True)
class Wake:
    """What may cut a wait short.

    Attributes:
        by: The least readiness of the server that may.
        after: Seconds of the wait that must have passed before.
    """

    by: WakeBy
    after: float = 0.0


@dataclass(frozen=True)
class Matched:
    """One test of a rule that held.

    Attributes:
        where: Such as ``"cause 1"``, ``"message"`` or ``"exit code"``.
        text: The words or the value that matched.
    """

    where: str
    text: str


@dataclass(frozen=True)
class Why:
    """How a result was recognised.

    Attributes:
        rule: The kind of the rule that matched.
        matched: Its tests that held; none for the last rule, which matches
            everything.
    """

    rule: str
    matched: tuple[Matched, ...] = ()


@dataclass(frozen=True)
class Retry:
    """Wait, and then attempt or repair again.

    Attributes:
        delay: Seconds to wait, counted from the event that led here.
        repair: Repair instead of an attempt, and tell the session how that
            ended; a session's ``next`` knows that it was one.
        wake: What may cut the wait short; ``None``: nothing.
        kind: What the failure was.
        budget: The budget that the retry counts on.
        attempt: The number of the attempt that follows, counted from 1.
        remaining: Seconds left of the budget's window before this wait;
            ``None`` if it has no window.
        repair_force: Repair with force.
        why: How the result was recognised, if that was asked.
    """

    delay: float
    repair: bool = False
    wake: Wake | None = None
    kind: str = ""
    budget: str = ""
    attempt: int = 0
    remaining: float | None = None
    repair_force: bool = False
    why: Why | None = None


@dataclass(frozen=True)
class Stop:
    """The call is over.

    Attributes:
        outcome: How it ended.
        why: How the last result was recognised, if that was asked.
    """

    outcome: Outcome
    why: Why | None = None


Action = Retry | Stop
"""What a policy wants next."""


class UnknownActionError(Exception):
    """The plugin wants something that this package does not know."""


def read_action(members: Mapping[str, Any]) -> Action:
    """An action as the plugin said it.

    Raises:
        UnknownActionError: If this package does not know the action; then the
            call must stop.
    """
    if members["type"] == "stop":
        return Stop(read_outcome(members["outcome"]), _read_why(members.get("why")))
    if members["type"] != "retry":
        raise UnknownActionError(f"this package does not know the action {members['type']!r}")
    remaining, wake = members.get("remaining_us"), members.get("wake")
    return Retry(
        delay=wire.seconds(members.get("delay_us", 0)),
        repair=members.get("repair", False),
        wake=None if wake is None else Wake(wake["by"], wire.seconds(wake.get("after_us", 0))),
        kind=members.get("kind", ""),
        budget=members.get("budget", ""),
        attempt=members.get("attempt", 0),
        remaining=None if remaining is None else wire.seconds(remaining),
        repair_force=members.get("repair_force", False),
        why=_read_why(members.get("why")),
    )


def _read_why(members: Mapping[str, Any] | None) -> Why | None:
    if members is None:
        return None
    matched = tuple(Matched(m["in"], m["text"]) for m in members.get("matched", ()))
    return Why(members["rule"], matched)
