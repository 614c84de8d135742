"""What a call is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._wire import values as wire
from .warnings import SECONDS_PER_DAY, warn

if TYPE_CHECKING:
    from .._wire.types import WireCall


@dataclass(frozen=True, kw_only=True)
class Call:
    """What a call is; the same for all of its attempts.

    ``remote`` and ``write`` must be said: a policy cannot guess what is safe.

    Attributes:
        remote: It goes over the network, to a server that may restart.
        write: It may change something. If in doubt, it does.
        surface_conflict: A compare-and-swap: lose a race rather than repeat
            the write. It means nothing for a read.
        connect_retry: Wait for a server that is away. ``False`` suits a call
            whose answer may degrade rather than come late.
        repeatable: A write that may be applied again: it is tried again as a read
            is. Once an attempt that may have been applied has been followed by
            another, the call ends as :class:`Indeterminate` unless it succeeds.
        one_request: Whether an attempt is known to make one request that can have
            effects. ``False``: it may make several, so neither what it reports nor
            what was seen of it proves that nothing of a write was applied. ``None``:
            the policy's rules alone decide.
        refuses_before_acting: The caller's word that this server answers 409, 410,
            412, 422, 429 and 503 before it does anything. Of a server that may act
            first it makes a write apply twice.
        budget: The call's total budget in seconds, above 0. It runs from
            *started* on, and never ends an attempt. ``None``: no limit but the
            policy's own.
        label: A name for messages, at most 256 bytes, such as ``"query"``.
        started: When the call began, in seconds of the clock that it is driven
            with, before any wait for a lock. ``None``: with its first attempt.

    Raises:
        TypeError: If a value has the wrong type.
        ValueError: If *budget*, *label* or *started* is out of bounds.
    """

    remote: bool
    write: bool
    surface_conflict: bool = False
    connect_retry: bool = True
    repeatable: bool = False
    one_request: bool | None = None
    refuses_before_acting: bool = False
    budget: float | None = None
    label: str = ""
    started: float | None = None

    def __post_init__(self) -> None:
        for field in _FLAGS:
            value = getattr(self, field)
            if not isinstance(value, bool):
                raise TypeError(f"outlast: {field} is {value!r}, and must be True or False")
        if self.one_request is not None and not isinstance(self.one_request, bool):
            raise TypeError(
                f"outlast: one_request is {self.one_request!r}, and must be True, False or None"
            )
        if not isinstance(self.label, str):
            raise TypeError(f"outlast: label is {self.label!r}, and must be a str")
        if len(wire.utf8(self.label).encode()) > wire.MAX_LABEL_BYTES:
            raise ValueError(
                f"outlast: label has {len(self.label)} characters, and must have at most "
                f"{wire.MAX_LABEL_BYTES} bytes"
            )
        if self.budget is not None and wire.micros(self.budget, "budget") < 1:
            raise ValueError(
                f"outlast: budget is {self.budget!r}, and must be above 0 s; None is no limit"
            )
        if self.started is not None:
            wire.micros(self.started, "started")
        self._warn()

    def _warn(self) -> None:
        if self.budget is not None and self.budget > SECONDS_PER_DAY:
            warn(f"budget is {self.budget!r} s, more than a day: it is in seconds")

    def _members(self, seed: int | None) -> WireCall:
        """The call as the wire has it."""
        members: WireCall = {"remote": self.remote, "write": self.write}
        if self.label:
            members["label"] = wire.utf8(self.label)
        if self.surface_conflict:
            members["surface_conflict"] = True
        if not self.connect_retry:
            members["connect_retry"] = False
        if self.one_request is not None:
            members["one_request"] = self.one_request
        if self.repeatable:
            members["repeatable"] = True
        if self.refuses_before_acting:
            members["refuses_before_acting"] = True
        if self.budget is not None:
            members["budget_us"] = wire.micros(self.budget, "budget")
        if self.started is not None:
            members["started_us"] = wire.micros(self.started, "started")
        if seed is not None:
            members["seed"] = seed
        return members


_FLAGS = (
    "remote",
    "write",
    "surface_conflict",
    "connect_retry",
    "repeatable",
    "refuses_before_acting",
)
