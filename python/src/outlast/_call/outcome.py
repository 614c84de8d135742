"""How a call ended: as a value, and as an exception."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .._wire import values as wire
from .errors import OutlastError
from .result import Result

OutcomeType = Literal[
    "ok",
    "failed",
    "exhausted",
    "conflict",
    "precondition_failed",
    "indeterminate",
    "cancelled",
]
"""How a call may end."""

Effects = Literal["none", "unknown"]
"""Whether a write that did not succeed may have been applied."""


@dataclass(frozen=True)
class Attempt:
    """One attempt of a call's history.

    Attributes:
        number: Counted from 1.
        at: When its end was seen, in seconds since the call started.
        kind: What failure it was.
    """

    number: int
    at: float
    kind: str


@dataclass(frozen=True)
class Outcome:
    """How a call ended, and what led there.

    Attributes:
        type: How it ended.
        kind: What the last failure was; ``""`` if there was none.
        effects: ``"unknown"`` if it was a write that may have been applied.
        reason: What ended it beyond its kind, such as ``"window"`` when a
            budget's time was spent; ``""`` if there is nothing to say.
        budget: The budget that was spent, ``""`` if none was.
        budget_attempts: Attempts that counted on it.
        budget_spent: Seconds since its window opened.
        attempts: Attempts in all.
        elapsed: Seconds since the call started.
        retry_after: Seconds that the server asked for, if that ended the call.
        refused_wait: Seconds of the wait that would have come next, if the server's
            Retry-After or the call's own budget did not allow it.
        message: The outcome in a sentence that never quotes an attempt.
        remedy: What a person can do about it, ``""`` if nothing is known.
        evidence: Of an indeterminate call: what kept this from being known to have
            sent nothing, and what would have been evidence; ``""`` where only the
            policy has judged.
        last_error: What the last attempt said, at most 1 KiB of it.
        history: The first four and the last four attempts that failed.
        result: The last attempt's result; ``None`` if none was made.
    """

    type: OutcomeType
    kind: str = ""
    effects: Effects = "none"
    reason: str = ""
    budget: str = ""
    budget_attempts: int = 0
    budget_spent: float = 0.0
    attempts: int = 0
    elapsed: float = 0.0
    retry_after: float | None = None
    refused_wait: float | None = None
    message: str = ""
    remedy: str = ""
    evidence: str = ""
    last_error: str = ""
    history: tuple[Attempt, ...] = ()
    result: Result | None = None

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.type == "ok"

    def check(self) -> Outcome:
        """The outcome itself if the call succeeded.

        Raises:
            CallError: Else, the subclass that belongs to the outcome's type.
        """
        if self.ok:
            return self
        raise error_of(self)


class CallError(OutlastError):
    """A call did not succeed.

    Attributes:
        outcome: How it ended, and what led there.
        label: The call's label, or ``""``.
    """

    def __init__(self, outcome: Outcome, label: str = "") -> None:
        super().__init__(outcome, label)
        self.outcome = outcome
        self.label = label

    @property
    def result(self) -> Result | None:
        """The last attempt's result."""
        return self.outcome.result

    def __str__(self) -> str:
        text = "outlast: " + (f"{self.label}: " if self.label else "")
        text += self.outcome.message or self.outcome.type
        if self.outcome.remedy:
            text += f". {self.outcome.remedy}"
        if self.outcome.evidence:
            text += f"\n  evidence: {self.outcome.evidence}"
        if self.outcome.last_error:
            text += f"\n  last error: {self.outcome.last_error}"
        return text


class Failed(CallError):
    """A failure that trying again does not mend."""


class Exhausted(CallError):
    """A budget was spent; nothing was applied."""


class Conflict(CallError):
    """A race was lost, and the call asked to be told."""


class PreconditionFailed(CallError):
    """A condition that the call depended on does not hold."""


class Indeterminate(CallError):
    """A write failed in a way that leaves open whether it was applied. Look
    before trying it again.
    """


class Cancelled(CallError):
    """The caller gave up."""


_BY_TYPE: dict[str, type[CallError]] = {
    "failed": Failed,
    "exhausted": Exhausted,
    "conflict": Conflict,
    "precondition_failed": PreconditionFailed,
    "indeterminate": Indeterminate,
    "cancelled": Cancelled,
}


def error_of(outcome: Outcome, label: str = "") -> CallError:
    """The exception for an outcome that is not ok. A type that a newer plugin
    may add is a :class:`CallError` of no subclass.
    """
    return _BY_TYPE.get(outcome.type, CallError)(outcome, label)


def read_outcome(members: Mapping[str, Any]) -> Outcome:
    """An outcome as the plugin said it. Unknown members are ignored, so that a
    newer plugin of the same major version may add some.
    """
    retry_after, refused = members.get("retry_after_us"), members.get("refused_us")
    return Outcome(
        type=members["type"],
        kind=members.get("kind", ""),
        effects=members.get("effects", "none"),
        reason=members.get("reason", ""),
        budget=members.get("budget", ""),
        budget_attempts=members.get("budget_attempts", 0),
        budget_spent=wire.seconds(members.get("budget_spent_us", 0)),
        attempts=members.get("attempts", 0),
        elapsed=wire.seconds(members.get("elapsed_us", 0)),
        retry_after=None if retry_after is None else wire.seconds(retry_after),
        refused_wait=None if refused is None else wire.seconds(refused),
        message=members.get("message", ""),
        remedy=members.get("remedy", ""),
        last_error=members.get("last_error", ""),
        history=tuple(
            Attempt(entry.get("attempt", 0), wire.seconds(entry["at_us"]), entry.get("kind", ""))
            for entry in members.get("history", ())
        ),
    )
