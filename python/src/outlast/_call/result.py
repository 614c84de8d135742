"""How one attempt ended."""

from __future__ import annotations

import signal as signals
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from .._wire import values as wire
from .warnings import warn

if TYPE_CHECKING:
    from .._wire.types import WireResult

Sent = Literal["no", "yes", "unknown"]
"""Whether an attempt's request left the caller."""

Failure = Literal[
    "", "unresolved", "unconnected", "untrusted", "broke", "stale", "cut", "malformed"
]
"""How a request failed, as its caller saw it."""

FAILURES = get_args(Failure)

MAX_SIGNAL_NAME = 32


@dataclass(frozen=True, kw_only=True)
class Result:
    """How one attempt ended, either as a process (an exit code or a signal,
    with what it printed) or as an HTTP exchange (a status or a message).

    Texts are best given as bytes, just as they arrived: a policy looks at where
    words stand, and a reader that converts line ends moves them.

    Attributes:
        exit_code: The process's, if it exited.
        stdout: What it printed; of more than 64 KiB the policy gets both ends.
        stderr: The same for its other stream.
        http_status: Of an exchange that was answered.
        message: What an exchange that failed said.
        retry_after: The server's Retry-After in seconds. Any number is safe; a
            negative one is ignored.
        sent: Whether anything left the caller. ``"no"`` is a claim that nothing of
            the attempt can have had an effect: a write is repeated on it.
        failure: How a request failed that got no whole answer: ``"unresolved"`` (no
            address for the name), ``"unconnected"`` (no connection could be made),
            ``"untrusted"`` (certificate or protocol refused in the handshake),
            ``"broke"`` (the connection stood, and broke before an answer),
            ``"stale"`` (so did one that had been kept open, idle, since before the
            call's first failure), ``"cut"`` (it broke within the answer) or
            ``"malformed"`` (what answered speaks no such protocol).
        only_request: The attempt made this one request, and no other.
        signal: The name of the signal that ended the process, such as
            ``"SIGKILL"``.
        timed_out: The attempt was ended at its time limit.
        streamed: Its output has reached the user, so it must not run again.
        started: When it began, in seconds of the clock that the call is driven
            with. ``None``: when the driver began it.
        ended: When it ended, likewise.

    Raises:
        TypeError: If a value has the wrong type.
        ValueError: If there is no such *sent*, *failure*, *signal* or *http_status*,
            or a time is out of bounds.
    """

    exit_code: int | None = None
    stdout: bytes | str = b""
    stderr: bytes | str = b""
    http_status: int | None = None
    message: bytes | str = ""
    retry_after: float | None = None
    sent: Sent = "unknown"
    failure: Failure = ""
    only_request: bool = False
    signal: str = ""
    timed_out: bool = False
    streamed: bool = False
    started: float | None = None
    ended: float | None = None

    def __post_init__(self) -> None:
        for field in ("exit_code", "http_status"):
            _check_integer(getattr(self, field), field)
        for field in ("stdout", "stderr", "message"):
            text = getattr(self, field)
            if not isinstance(text, (bytes, str)):
                raise TypeError(
                    f"outlast: {field} is of type {type(text).__name__}, and must be bytes or str"
                )
        if self.http_status is not None and self.http_status < 0:
            raise ValueError(
                f"outlast: http_status is {self.http_status}, and must not be negative"
            )
        if self.sent not in ("no", "yes", "unknown"):
            raise ValueError(
                f'outlast: sent is {self.sent!r}, and must be "no", "yes" or "unknown"'
            )
        if self.failure not in FAILURES:
            words = ", ".join(filter(None, FAILURES))
            raise ValueError(f"outlast: failure is {self.failure!r}, and must be one of {words}")
        if self.failure and self.is_process:
            raise ValueError(f"outlast: failure is {self.failure!r}, and belongs to no process")
        _check_seconds(self.retry_after)
        if not isinstance(self.signal, str):
            raise TypeError(f'outlast: signal is {self.signal!r}, and must be a name: "SIGKILL"')
        if self.signal and len(wire.utf8(self.signal).encode()) > MAX_SIGNAL_NAME:
            raise ValueError(f"outlast: signal is {self.signal!r}, which is not a signal's name")
        for field in ("started", "ended"):
            if getattr(self, field) is not None:
                wire.micros(getattr(self, field), field)
        self._warn()

    def _warn(self) -> None:
        if self.exit_code is not None and self.exit_code < 0:
            warn(
                f"exit_code is {self.exit_code}: subprocess's way to say a signal; "
                "Result.from_process understands it"
            )
        if self.exit_code is not None and self.http_status is not None:
            warn("a result with an exit_code is a process's, so its http_status may be ignored")

    @classmethod
    def from_process(
        cls, returncode: int, stdout: bytes | str = b"", stderr: bytes | str = b""
    ) -> Result:
        """The result of a process as the module :mod:`subprocess` tells it.

        Args:
            returncode: The exit code, or a signal's number, negated.
            stdout: What the process printed.
            stderr: The same for its other stream.
        """
        if returncode >= 0:
            return cls(exit_code=returncode, stdout=stdout, stderr=stderr)
        return cls(signal=signal_name(-returncode), stdout=stdout, stderr=stderr)

    @property
    def is_process(self) -> bool:
        """Whether it is a process's."""
        return self.exit_code is not None or bool(self.signal)

    @property
    def ok(self) -> bool:
        """Whether the attempt succeeded: exit code 0, or a 2xx status without a
        message or a failure.
        """
        if self.timed_out or self.signal or self.failure:
            return False
        if self.exit_code is not None:
            return self.exit_code == 0
        return self.http_status is not None and self.http_status // 100 == 2 and not self.message

    def _members(self) -> WireResult:
        """The result as the wire has it."""
        members: dict[str, Any] = {}
        for name in ("exit_code", "http_status"):
            value = getattr(self, name)
            if value is not None:
                members[name] = max(-wire.MAX_INTEGER, min(value, wire.MAX_INTEGER))
        if self.signal:
            members["signal"] = wire.utf8(self.signal)
        members.update(wire.text_members("stdout", self.stdout))
        members.update(wire.text_members("stderr", self.stderr))
        members.update(wire.text_members("message", self.message))
        retry_after = wire.retry_after_micros(self.retry_after)
        if retry_after is not None:
            members["retry_after_us"] = retry_after
        if self.started is not None:
            members["started_us"] = wire.micros(self.started, "started")
        if self.ended is not None:
            members["ended_us"] = wire.micros(self.ended, "ended")
        if self.timed_out:
            members["timed_out"] = True
        if self.streamed:
            members["streamed"] = True
        if self.sent != "unknown":
            members["sent"] = self.sent
        if self.failure:
            members["failure"] = self.failure
        if self.only_request:
            members["only_request"] = True
        return cast("WireResult", members)


def _check_seconds(value: Any) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise TypeError(
            f"outlast: retry_after is {value!r}, and must be a number of seconds, or None"
        )


def _check_integer(value: Any, field: str) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise TypeError(f"outlast: {field} is {value!r}, and must be an int")


def signal_name(number: int) -> str:
    """The name of a signal, such as ``SIGKILL``; of a real-time one its number."""
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"SIG{number}"
