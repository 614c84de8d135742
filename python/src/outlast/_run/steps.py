"""The steps of a call, and how they end.

The loop of a call is a generator of steps, so that one loop serves functions and
coroutines: each driver carries out the steps in its own way and sends back how
they ended.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from .._call.outcome import Outcome
from .._call.result import Result
from .watched_wait import WatchedWait

if TYPE_CHECKING:
    from .._evidence.requests import Request, Requests
    from .._watch.closing import Peer


@dataclass(frozen=True, slots=True)
class MakeAttempt:
    """Make an attempt within a context. Its value is a :class:`Result`."""

    within: AbstractContextManager[None]


@dataclass(frozen=True, slots=True)
class LoadPlugin:
    """Load the plugin."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class MakeRepair:
    """Repair. Its value is a :class:`Result`."""

    force: bool


class Again(Protocol):
    """What stands between an attempt and the next one."""

    def spent(self) -> str:
        """Why an attempt that has failed cannot be made again, for a person; ``""``: it can."""
        ...

    def drop(self) -> Any:
        """Let go of what the last attempt has got: another follows. In an event loop it is
        awaited.
        """
        ...


@dataclass(frozen=True, slots=True)
class LetGo:
    """Let go of what the last attempt has got, before the wait for the next."""

    again: Again


@dataclass(frozen=True, slots=True)
class Done:
    """How a step ended: with a value or an error."""

    value: Any = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """An attempt that was made before there was anything to drive: its end, what was seen of
    it, and when it began and ended.
    """

    done: Done
    seen: Requests | None
    started: float
    ended: float


@dataclass(frozen=True, slots=True)
class Ended:
    """How a call ended: with an outcome or an error, and the exception of the
    last attempt if it raised one.
    """

    outcome: Outcome | None = None
    error: BaseException | None = None
    raised: Exception | None = None


@dataclass(frozen=True, slots=True)
class LookWhetherClosed:
    """Look whether a server closes a connection at once, of its own accord. The value
    says so.
    """

    peer: Peer
    patience: float


class ToBeAwaited(Exception):
    """An attempt gave what is to be awaited, so the call is for an event loop.

    Attributes:
        seen: What was seen so far.
    """

    def __init__(self, seen: Requests | Request | None) -> None:
        super().__init__()
        self.seen = seen


Step = MakeAttempt | LoadPlugin | LetGo | Wait | WatchedWait | MakeRepair | LookWhetherClosed
"""What a driver has to do next."""

Steps = Generator[Step, Done, Ended]
"""A call as a generator of its steps."""


def checked(result: object) -> Result:
    """What an attempt gave.

    Raises:
        TypeError: If it is no result.
    """
    if not isinstance(result, Result):
        raise TypeError(
            f"outlast: the attempt gave a {type(result).__name__}, and must give a Result"
        )
    return result


def timed(result: Result, started: float, ended: float, more: Mapping[str, Any]) -> Result:
    """A result with its times, where it has none of its own, and with other members."""
    return replace(
        result,
        started=started if result.started is None else result.started,
        ended=ended if result.ended is None else result.ended,
        **more,
    )
