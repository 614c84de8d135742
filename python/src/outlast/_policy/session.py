"""One call, event by event."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from .._call.action import Action, Stop, UnknownActionError, WakeBy, read_action
from .._call.call import Call
from .._call.errors import PluginError
from .._call.result import Result
from .._plugin.envelope import AnswerError
from .._time import clock
from .._wire import values as wire
from .request import random_seed, told, told_result

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._wire.types import WireEvent
    from .document import Document

EventType = Literal["attempted", "woken", "down", "not_ready", "repaired", "cancelled"]


class Session:
    """One call, event by event, for callers with a loop of their own.

    A session holds nothing of the plugin between events, and needs no close.
    It is for one thread at a time. Made by ``Policy.session``.
    """

    def __init__(
        self,
        policy: Document,
        call: Call,
        seed: int | None = None,
        *,
        state: str = "",
        only_request: bool = False,
    ) -> None:
        if not isinstance(call, Call):
            raise TypeError(f"outlast: call is {call!r}, and must be a Call")
        self._policy = policy
        self._call = call
        self._members = call._members(random_seed(seed))
        self._text = b""
        self._state = state
        self._only_request = only_request
        self._repairing: bool | None = None if state else False  # None: the plugin knows
        self._over = False
        self._last: Result | None = None
        self.on_replaced: Callable[[Exception], None] | None = None
        """Told of an instance of the plugin that failed and was replaced."""

    @property
    def policy(self) -> Document:
        """The policy that decides. Of one that is followed, what was in force at the
        first event, from that on.
        """
        return self._policy

    @property
    def call(self) -> Call:
        """What the call is."""
        return self._call

    @property
    def state(self) -> str:
        """What the call has spent so far, as text: at most 1 KiB of ASCII. It is
        ``""`` before the first event and after the last. A session can be
        continued from it, in another process too.
        """
        return self._state

    @property
    def over(self) -> bool:
        """Whether the policy has said to stop."""
        return self._over

    def next(
        self,
        result: Result,
        now: float | None = None,
        random: float | None = None,
        *,
        explain: bool = False,
    ) -> Action:
        """Tell how an attempt ended, or the repair that was asked for, and get
        what to do next. A session that was continued in the midst of a repair knows
        that its first result is the repair's.

        The plugin is loaded by the first call of this.

        Args:
            result: How it ended.
            now: When that was seen, in seconds of a clock of the caller's that
                is the same for the whole call; ``None``: ``time.monotonic()``.
                A delay counts from there.
            random: The caller's own randomness for the next delay, from 0 to 1;
                ``None``: from the seed.
            explain: Say in the action how the result was recognised.

        Raises:
            PluginError: If the plugin cannot be used, or refuses the event. The
                call must stop then.
            PolicyError: If the policy's document has faults.
            TypeError: If an argument has the wrong type.
            ValueError: If *now* or *random* is out of bounds.
            RuntimeError: If the session is over.
        """
        if not isinstance(result, Result):
            raise TypeError(
                f"outlast: result is of type {type(result).__name__}, and must be a Result"
            )
        if self._only_request and not (result.ok or result.is_process):
            from .._evidence.requests import Requests
            from .._evidence.verdict import evidence_of

            result = replace(result, **evidence_of(result, Requests(), 0.0, claimed=True))
        event = self._event("repaired" if self._repairing else "attempted", now, random)
        if not self._repairing:
            self._last = result
        return self._answer(event, result, explain)

    def woken(self, by: WakeBy, now: float | None = None, random: float | None = None) -> Action:
        """Tell that a wait was cut short because the server answered, and get
        what to do next: often to wait a little more.

        Args:
            by: How much of an answer was seen: ``"accepting"`` or ``"ready"``.
            now: When, as in :meth:`next`.
            random: As in :meth:`next`.

        Raises:
            PluginError: As in :meth:`next`; there must have been a wait.
            ValueError: If an argument is out of bounds.
            RuntimeError: If the session is over.
        """
        if by not in ("accepting", "ready"):
            raise ValueError(f'outlast: by is {by!r}, and must be "accepting" or "ready"')
        event = self._event("woken", now, random)
        event["by"] = by
        return self._answer(event)

    def down(self, now: float | None = None, random: float | None = None) -> Action:
        """Tell that a wait is over, in full, and that the server is seen to be
        down, and get what to do next: the schedule's next wait for the same
        attempt, or, without a delay, that attempt all the same.

        It may follow a wait that had ``wake``, and no other. The last look at
        the server must have begun after the last attempt and ended within the
        last second, and was refused, found no way to the server, or no such name.

        Args:
            now: When, as in :meth:`next`.
            random: As in :meth:`next`.

        Raises:
            PluginError: As in :meth:`next`; there must have been a wait.
            ValueError: If an argument is out of bounds.
            RuntimeError: If the session is over.
        """
        return self._answer(self._event("down", now, random))

    def not_ready(self, now: float | None = None, random: float | None = None) -> Action:
        """Tell that a wait is over, in full, and that the server is there and says
        that it is not ready yet, because it loads. It is given and answered as
        :meth:`down` is, and leaves attempts out for no longer than one cap of the
        backoff.
        """
        return self._answer(self._event("not_ready", now, random))

    def cancelled(self, result: Result | None = None, now: float | None = None) -> Stop:
        """Tell that the caller gave up, and get the outcome.

        Args:
            result: Of the attempt that was running; ``None``: none was.
            now: When, as in :meth:`next`.

        Raises:
            PluginError: As in :meth:`next`.
            ValueError: If *now* is out of bounds.
            RuntimeError: If the session is over.
        """
        if result is not None and not self._repairing:
            self._last = result
        action = self._answer(self._event("cancelled", now, None), result)
        if not isinstance(action, Stop):
            raise PluginError("deciding", "the plugin goes on with a cancelled call")
        return action

    def _event(self, event: EventType, now: float | None, random: float | None) -> WireEvent:
        if self._over:
            raise RuntimeError("outlast: the session is over: its policy has said to stop")
        at = clock.now() if now is None else now
        members: WireEvent = {"type": event, "now_us": wire.micros(at, "now")}
        if random is not None:
            members["random"] = wire.random_number(random)
        return members

    def _answer(
        self, event: WireEvent, result: Result | None = None, explain: bool = False
    ) -> Action:
        """Give an event, with a result if it has one, and get what to do next."""
        try:
            self._policy, _ = self._policy.in_force()
            if result is not None:
                event["result"] = told_result(result, self._call, self._policy)
            ok = self._decide(event, explain)
            action = read_action(ok["action"])
        except AnswerError as e:
            if self._repairing is None and event["type"] == "attempted" and e.field == "event.type":
                self._repairing, self._last = True, None  # it is in the midst of a repair
                event["type"] = "repaired"
                return self._answer(event, result, explain)
            raise e.refusal("deciding", result or self._last) from e
        except UnknownActionError as e:
            raise PluginError(
                "deciding", str(e), field="action.type", result=result or self._last
            ) from e
        except (KeyError, TypeError, AttributeError) as e:
            message = f"the plugin's answer is malformed: {e!r}"
            raise PluginError(
                "deciding", message, code="internal", result=result or self._last
            ) from e
        except PluginError as e:
            e.result = result or self._last
            raise
        self._state = ok.get("state", "")
        if isinstance(action, Stop):
            self._over = True
            return replace(action, outcome=replace(action.outcome, result=self._last))
        self._repairing = action.repair
        return action

    def _decide(self, event: WireEvent, explain: bool) -> Any:
        if not self._text:
            self._text = wire.dumps(told(self._members, self._policy.plugin))
        rest = b',"call":' + self._text
        if self._state:
            rest += b',"state":' + wire.dumps(self._state)
        rest += b',"event":' + wire.dumps(event)
        rest += b',"explain":true}' if explain else b"}"
        reference = self._policy._reference_text()
        plugin = self._policy.plugin
        try:
            return plugin.ask("decide", b'{"policy":' + reference + rest, self.on_replaced)
        except AnswerError as e:
            if e.code != "unknown_policy":
                raise
        whole = self._policy._whole_text()
        return plugin.ask("decide", b'{"policy":' + whole + rest, self.on_replaced)
