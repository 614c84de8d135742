"""A call and what it takes to carry it out, for all the ways to drive one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from . import events
from ._call import Call
from ._clock import Now
from ._outcome import Outcome
from ._policy import Policy
from ._result import Result
from .hooks._registry import Hook, get_hooks, tell

if TYPE_CHECKING:
    from .ready import Readiness

REDACTED = "[redacted]"
"""Stands in for a secret."""

ResultOf = Callable[[Exception], "Result | None"]
"""Maps an exception to the result that it stands for; ``None``: to none."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A call and what it takes to carry it out.

    Attributes:
        policy: Decides.
        call: What the call is.
        now: The clock.
        result_of: Maps exceptions.
        seed: Of the jitter; ``None``: a random one.
        repairs: Whether the caller can repair.
        observe: Is told of the call's events besides the hooks.
        secrets: Are replaced wherever a text of an attempt is told to hooks.
        ready: Sees whether the server is back; ``None``: nobody does.
    """

    policy: Policy
    call: Call
    now: Now
    result_of: ResultOf
    seed: int | None = None
    repairs: bool = False
    observe: Hook | None = None
    secrets: tuple[str, ...] = ()
    ready: Readiness | None = None

    def tell(self, kind: Callable[..., events.Event], /, **details: Any) -> None:
        """Tell hooks of an event."""
        hooks: Iterable[Hook] = get_hooks()
        if self.observe is not None:
            hooks = (*hooks, self.observe)
        if hooks:
            tell(kind(call=self.call, policy=self.policy.name, **details), hooks)

    def tell_attempt(self, attempt: int, result: Result, at: float) -> None:
        """Tell of an attempt that ended."""
        self.tell(
            events.AttemptEnded, attempt=attempt, at=at, ok=result.ok, result=self._clean(result)
        )

    def tell_replaced(self, error: Exception) -> None:
        """Tell of an instance that failed."""
        self.tell(events.InstanceReplaced, error=error)

    def tell_loading(self) -> None:
        """Tell how the plugin was loaded, if this call is the first to know."""
        loading = self.policy.plugin.take_loading()
        if loading is not None:
            self.tell(events.Loaded, cache=loading.cache, why=loading.why, took=loading.took)

    def stopped(self, outcome: Outcome) -> Outcome:
        """The call's end: tells of it, and gives the outcome to the caller."""
        result = outcome.result
        outcome = replace(outcome, last_error=self._redact(outcome.last_error))
        told = outcome if result is None else replace(outcome, result=self._clean(result))
        self.tell(events.Stopped, outcome=told, at=self.now())
        return outcome

    def succeeded(self, result: Result, now: float) -> Outcome:
        """The end of a call whose first attempt succeeded. The plugin is not
        asked: it could not say anything else.
        """
        began = self.call.started if self.call.started is not None else result.started
        elapsed = 0.0 if began is None else max(0.0, now - began)
        return self.stopped(Outcome("ok", attempts=1, elapsed=elapsed, result=result))

    def cancelled_at_once(self, began: float) -> Outcome:
        """The end of a call that was cancelled in its first attempt, or before
        the plugin could be asked.
        """
        effects = "a write may have been applied" if self.call.write else "nothing was applied"
        return self.stopped(
            Outcome(
                "cancelled",
                effects="unknown" if self.call.write else "none",
                attempts=1,
                elapsed=max(0.0, self.now() - began),
                message=f"cancelled in the first attempt; {effects}",
            )
        )

    def _clean(self, result: Result) -> Result:
        if not any(self.secrets):
            return result
        return replace(
            result,
            stdout=self._cleaned(result.stdout),
            stderr=self._cleaned(result.stderr),
            message=self._cleaned(result.message),
        )

    def _cleaned(self, text: bytes | str) -> bytes | str:
        if isinstance(text, str):
            return self._redact(text)
        for secret in filter(None, self.secrets):
            text = text.replace(secret.encode(), REDACTED.encode())
        return text

    def _redact(self, text: str) -> str:
        for secret in filter(None, self.secrets):
            text = text.replace(secret, REDACTED)
        return text


def timed(result: Result, started: float, ended: float) -> Result:
    """A result with its times, where it has none of its own."""
    if not isinstance(result, Result):
        raise TypeError(
            f"outlast: the attempt gave a {type(result).__name__}, and must give a Result"
        )
    if result.started is None or result.ended is None:
        result = replace(
            result,
            started=started if result.started is None else result.started,
            ended=ended if result.ended is None else result.ended,
        )
    return result
