"""Calls and attempts as spans of OpenTelemetry."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from .._call.call import Call
from .._call.result import Result
from .._version import __version__
from ..events import AttemptEnded, Event, Repairing, Stopped, Waiting
from ._figures import Figures
from ._hook import CallHook, PerCallHook

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

Attributes = dict[str, Any]


class OpenTelemetryHook(PerCallHook):
    """Makes a span ``outlast.call`` of each call, and in it a span ``outlast.attempt`` of
    each attempt, which is current while the attempt runs, so that the client's own spans
    are in it. From the second on they link to the one before. No span has an attempt's
    words. Where no SDK is installed, or the trace is not sampled, it does nothing.

    Args:
        provider: Makes the spans; ``None``: the program's.
    """

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._provider = provider
        self._tracer: Tracer | None = None

    def begin(self, call: Call, policy: str, command: str) -> CallHook | None:  # noqa: ARG002
        """Begin the span of a call, in the span that is current."""
        if self._tracer is None:
            from opentelemetry.trace import get_tracer

            self._tracer = get_tracer("outlast", __version__, self._provider)
        attributes = {"outlast.policy": policy}
        if call.label:
            attributes["outlast.label"] = call.label
        span = self._tracer.start_span("outlast.call", attributes=attributes)
        return _TracedCall(self._tracer, span, call) if span.is_recording() else None


class _TracedCall(CallHook):
    """The spans of one call."""

    def __init__(self, tracer: Tracer, span: Span, call: Call) -> None:
        self._tracer = tracer
        self._span = span
        self._call = call
        self._figures = Figures()
        self._attempt: _AttemptSpan | None = None  # the last one
        self._stopped = False

    def attempt(self, number: int, at: float) -> _AttemptSpan:
        """Begin an attempt's span. It is to be current in the attempt."""
        from opentelemetry.trace import Link, set_span_in_context

        figures, before = self._figures, self._attempt
        figures.attempt(at)
        attributes: Attributes = {"outlast.attempt": number}
        if number > 1:
            attributes["http.request.resend_count"] = number - 1
        if figures.wait is not None:
            attributes["outlast.waited"] = figures.wait
        if figures.woken is not None:
            attributes["outlast.woken"] = figures.woken
        links = []
        if before is not None:
            before.end()  # nothing was waited for
            links = [Link(before.span.get_span_context())]
        span = self._tracer.start_span(
            "outlast.attempt", set_span_in_context(self._span), attributes=attributes, links=links
        )
        self._attempt = _AttemptSpan(span)
        return self._attempt

    def __call__(self, event: Event) -> None:
        """Note what an event says of the call and of its last attempt."""
        self._figures.hear(event)
        last = self._attempt
        match event:
            case AttemptEnded() if last is not None:
                if event.ok:
                    last.end()
                else:
                    last.fail(event.result)
            case Waiting(again=False) if last is not None:
                last.note(event.kind, event.budget, event.delay)
            case Repairing() if last is not None:
                last.note(event.kind)
            case Stopped():
                self._stop(event)

    def _stop(self, event: Stopped) -> None:
        outcome = event.outcome
        said = {
            "outlast.outcome": outcome.type,
            "outlast.kind": outcome.kind,
            "outlast.budget": outcome.budget,
            "outlast.attempts": outcome.attempts,
            "outlast.waited": self._figures.waited,
        }
        if not outcome.ok:
            said["error.type"] = outcome.type
            if self._call.write:
                said["outlast.effects"] = outcome.effects
            if self._attempt is not None:
                self._attempt.note(outcome.kind, outcome.budget)
        self._end(said)

    def end(self, error: BaseException | None) -> None:
        """The end of a call that has no outcome. Of one that goes on elsewhere the spans
        are never ended, so that nobody gets them.
        """
        if not self._stopped and error is not None:
            waited = self._figures.waited
            self._end({"error.type": type(error).__qualname__, "outlast.waited": waited})

    def _end(self, said: Attributes) -> None:
        self._stopped = True
        if self._attempt is not None:
            self._attempt.end()
        _set(self._span, said)
        self._span.end()


class _AttemptSpan:
    """The span of an attempt, which is current while that runs. It ends when it is known
    what is done about the failure, with the time at which the attempt did.
    """

    def __init__(self, span: Span) -> None:
        self.span = span
        self._token: Any = None
        self._over: int | None = None
        self._error = ""  # the class of what the attempt raised, till it is noted
        self._failed = False

    def __enter__(self) -> None:
        from opentelemetry.context import attach
        from opentelemetry.trace import set_span_in_context

        self._token = attach(set_span_in_context(self.span))

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        from opentelemetry.context import detach
        from opentelemetry.trace import get_current_span

        self._over = time.time_ns()
        self._error = "" if error is None else error.__qualname__
        # A coroutine that is thrown away ends in any context.
        if get_current_span() is self.span:
            detach(self._token)

    def fail(self, result: Result) -> None:
        """Note how the attempt failed."""
        status = result.http_status
        words = (self._error, result.failure, result.signal, "timed_out" * result.timed_out)
        error = next(filter(None, words), "_OTHER") if status is None else str(status)
        _set(self.span, {"error.type": error, "http.response.status_code": status})
        self._error, self._failed = "", True

    def note(self, kind: str, budget: str = "", wait: float | None = None) -> None:
        """Note what the policy makes of the failure, and end it."""
        if self._failed and self.span.is_recording():
            _set(self.span, {"outlast.kind": kind, "outlast.budget": budget, "outlast.wait": wait})
            self.end()

    def end(self) -> None:
        """End it, if that is not done. An error that no event told of is noted."""
        if self.span.is_recording():
            if self._error:
                _set(self.span, {"error.type": self._error})
            self.span.end(self._over)


def _set(span: Span, attributes: Attributes) -> None:
    """Set those that say something. A span that has an error has failed."""
    for name, value in attributes.items():
        if value is not None and value != "":
            span.set_attribute(name, value)
    if "error.type" in attributes:
        from opentelemetry.trace import StatusCode

        span.set_status(StatusCode.ERROR)
