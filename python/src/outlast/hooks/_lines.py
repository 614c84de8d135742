"""An event as a line of a log: the message, its level, and its fields.

A line names the kind of a failure and never quotes an attempt: a caller that
searches outlast's log for an attempt's words must find none.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..events import (
    Event,
    InstanceReplaced,
    LeftOut,
    Loaded,
    PolicyInForce,
    Repairing,
    Stopped,
    Unwatched,
    Waiting,
)

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True)
class Line:
    """A line of a log."""

    level: int
    message: str
    fields: dict[str, Any] = field(default_factory=dict)


def line_of(event: Event) -> Line | None:
    """The line for an event, ``None`` if it is not worth one."""
    line = _line_of(event)
    if line is not None:
        line.fields["policy"] = event.policy
        if event.call.label:
            line.fields["label"] = event.call.label
    return line


def _line_of(event: Event) -> Line | None:
    match event:
        case Waiting():
            left = "" if event.remaining is None else f", of {event.remaining:.1f} s left"
            still = "still " if event.again else ""
            return Line(
                logging.WARNING,
                f"{still}{event.kind}; attempt {event.attempt} in {event.delay:.2f} s{left}",
                {
                    "kind": event.kind,
                    "budget": event.budget,
                    "attempt": event.attempt,
                    "delay": event.delay,
                    "remaining": event.remaining,
                },
            )
        case LeftOut():
            seen = "is there, and not ready yet" if event.not_ready else "is seen to be down"
            until = "is ready" if event.not_ready else "is back"
            return Line(
                logging.WARNING,
                f"the server {seen}: the next attempt is made when it {until}, "
                "or when one is due all the same",
            )
        case PolicyInForce():
            return _in_force(event)
        case Unwatched():
            return Line(logging.WARNING, event.why, {"why": event.why})
        case Repairing():
            return Line(logging.WARNING, f"{event.kind}; repairing", {"kind": event.kind})
        case Stopped():
            return _stopped(event)
        case Loaded():
            fields = {"took": event.took, "why": event.why}
            if event.cache is None:
                return Line(logging.INFO, f"loaded without a cache: {event.why}", fields)
            return Line(logging.DEBUG, f"loaded in {event.took:.3f} s", fields)
        case InstanceReplaced():
            return Line(logging.WARNING, "an instance of the plugin failed and was replaced")
    return None


def _in_force(event: PolicyInForce) -> Line:
    release, why = event.release, event.why
    fields: dict[str, Any] = {"policy_digest": event.digest}
    if release is not None:
        fields |= {"serial": release.serial, "source": release.source}
        fields |= {"since": _text(release.since), "expires": _text(release.expires)}
    if why is None:
        return Line(logging.DEBUG, "the policy in force is that of the folder", fields)
    # A folder that has never had it is no fault.
    expected = release is None and isinstance(why, FileNotFoundError)
    is_ = "comes with outlast" if release is None else f"has the serial {release.serial}"
    return Line(
        logging.DEBUG if expected else logging.WARNING,
        f"the policy in force is the one that {is_}: {why}",
        {**fields, "why": str(why)},
    )


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _stopped(event: Stopped) -> Line | None:
    outcome = event.outcome
    if outcome.ok and outcome.attempts <= 1:
        return None
    return Line(
        logging.INFO if outcome.ok else logging.ERROR,
        outcome.message or outcome.type,
        {
            "outcome": outcome.type,
            "kind": outcome.kind,
            "effects": outcome.effects,
            "reason": outcome.reason,
            "attempts": outcome.attempts,
            "elapsed": outcome.elapsed,
        },
    )
