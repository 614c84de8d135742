"""The loop of a call that Python drives, without anything that waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from .. import events
from .._call.action import Retry, Stop, WakeBy
from .._call.errors import PluginError
from .._call.known import line
from .._call.outcome import Outcome
from .._call.result import Result
from .._evidence.requests import Requests, current
from .._evidence.verdict import evidence_of, missing
from .._policy.session import Session
from .._time import clock
from .._wire import values as wire
from . import limits
from .steps import (
    Again,
    Done,
    Ended,
    LetGo,
    LoadPlugin,
    LookWhetherClosed,
    Made,
    MakeAttempt,
    MakeRepair,
    Step,
    Steps,
    ToBeAwaited,
    Wait,
    checked,
    timed,
)
from .task import Task, tries
from .watched_wait import WatchedWait, Watching

if TYPE_CHECKING:
    from .._watch.closing import Peer

LEAST_LOOK = 0.1
MOST_LOOK = 0.5
"""Seconds that a look at a listener which may close at once lasts, at least and at
most; between these as long as the attempt that was closed (choices)."""

_AFTER = "a request of an earlier attempt was sent after that had ended"

_LATE = Result(failure="broke", message=_AFTER)


class Driver:
    """Carries out what a policy asks for, and tells the hooks of it. Its parts
    serve a plugin that drives too.

    Attributes:
        now: The call's clock.
        began: When the call began, on it.
        seen: When the last event was, in microseconds. Delays count from there.
        raised: The exception of the last attempt, if it raised one.
        error: What ended the call without an outcome.
    """

    def __init__(self, task: Task, again: Again | None = None, made: Made | None = None) -> None:
        self._task = task
        self._again = again
        self._made = made
        self._most = 1 if limits.off else task.attempts
        self._session: Session | None = None
        self.now = task.clock or clock.current().now
        self.began = self.now() if made is None else made.started
        self.seen = 0
        self.raised: Exception | None = None
        self.error: BaseException | None = None
        self._watching = Watching(task.ready if clock.is_real() else None)
        self._waited = False  # since the last attempt
        self._said_why = False  # less is looked at than was asked for
        self._real = task.clock is None and clock.is_real()
        self._outer = current.get()
        self._unsent: list[Requests] = []  # attempts of a write that had sent nothing
        self._failed_at: float | None = None  # when the first attempt had, on time.monotonic
        self._missing = ""  # what keeps the last one from being known to have sent nothing
        self._action: Retry | None = None  # what the last failure led to
        self.undecided: Result | None = None  # of an attempt that the policy has not judged
        self._spent = ""  # why the attempt cannot be made again

    def steps(self) -> Steps:
        """The whole call, with a plugin that only decides. Who carries them out closes
        this after the last.
        """
        attempt, done = 1, Done()
        repair: Retry | None = None
        while True:
            if repair is None:
                done = yield from self.attempt(attempt)
            else:
                done = yield from self.repair(repair)
            if done.error is not None:
                return self.failed(done.error, attempted=True)
            result: Result = done.value
            now = self.now()
            if self._session is None and self._task.settles(result):
                return self._ended(self._task.succeeded(result, now))
            self.undecided = result if repair is None else None
            try:
                # Deciding waits for nothing, once the plugin is loaded.
                action = yield from self._decide(result, now)
                if isinstance(action, Retry) and 0 < (self._most or 0) < action.attempt:
                    action = self._last_allowed(action, now)
            except RuntimeError as e:  # such as of locks that were replaced meanwhile
                failed = PluginError("asking the policy", line(e), result=result)
                failed.__cause__ = e
                return self.failed(failed, attempted=False)
            except BaseException as e:
                return self.failed(e, attempted=False)
            if isinstance(action, Stop):
                return self._ended(self._stopped(action))
            self._action, self.undecided = action, None
            if self._again is not None:
                done = yield LetGo(self._again)
                if done.error is not None:
                    return self.failed(done.error, attempted=False)
            while action.delay > 0:
                done = yield from self.wait(action)
                if done.error is not None:
                    return self.failed(done.error, attempted=False)
                if done.value is None:
                    break
                try:
                    told = self._tell_plugin(done.value)
                except BaseException as e:
                    return self.failed(e, attempted=False)
                if isinstance(told, Stop):
                    return self._ended(self._stopped(told))
                self._action = action = told
            repair = action if action.repair else None
            attempt = action.attempt

    def attempt(self, attempt: int) -> Generator[Step, Done, Done]:
        """Make an attempt. The value is its result, with its times."""
        self._watching.end()
        self._waited = False
        late = next((before.late for before in self._unsent if before.late), "")
        made, self._made = self._made, None
        if made is None:
            seen, started = self._task.look_on(self._outer), self.now()
            within = self._task.around(attempt, started, seen)
            done = Done(_LATE) if late else (yield MakeAttempt(within))
            ended = self.now()
        else:
            done, seen, started, ended = made.done, made.seen, made.started, made.ended
        try:
            result = checked(_LATE if late else self._result(done, seen))
        except BaseException as e:
            return Done(error=e)
        evidence: dict[str, Any] = {}
        peer = None
        if seen is not None:
            evidence, peer = self._evidence(result, seen)
        if late:
            self._missing = f"{_AFTER}: {late}"
            # What the attempt before it gave, if that raised nothing, is not how the call ended.
            self.raised = self.raised or RuntimeError(f"outlast: {_AFTER}")
        if self._again is not None and not self._task.settles(result):
            self._spent = self._again.spent()
            evidence["streamed"] = result.streamed or bool(self._spent)
        result = timed(result, started, ended, evidence)
        if result.failure == "broke" and peer is not None:
            patience = min(max(LEAST_LOOK, ended - started), MOST_LOOK)
            done = yield LookWhetherClosed(peer, patience)
            if done.error is not None:
                return done
            if done.value:
                result = replace(result, failure="unconnected")
        if self._task.settles(result):
            self._watching.went("answered")
        self._task.tell_attempt(attempt, result, ended)
        return Done(result)

    def _result(self, done: Done, seen: Requests | None) -> Result:
        """What an attempt came to; its exception is raised if it stands for no result."""
        self.raised = None
        if done.error is None:
            result: Result = done.value
            return result
        error = done.error
        if not isinstance(error, Exception) or isinstance(error, ToBeAwaited):
            raise error
        mapped = self._task.result_of(error, seen)
        if mapped is None:
            raise error
        self.raised = error
        return mapped

    def _evidence(self, result: Result, seen: Requests) -> tuple[dict[str, Any], Peer | None]:
        """What was seen of an attempt, as members of its result; and where a read's
        last connection led to.
        """
        call, evidence, peer = self._task.call, {}, None
        if not (result.ok or result.is_process):
            if call.one_request is False:
                seen.hide("its caller says that it may make several requests")
            seen.end()
            since = seen.began if self._failed_at is None else self._failed_at
            evidence = evidence_of(result, seen, since, self._task.only_request)
            self._missing = missing(seen)
            if seen.last is not None and not call.write and self._real:
                peer = seen.last.peer
            if call.write and evidence["sent"] == "no":
                self._unsent.append(seen)
            if self._failed_at is None:
                self._failed_at = time.monotonic()
        seen.forget()
        return evidence, peer

    def repair(self, action: Retry) -> Generator[Step, Done, Done]:
        """Repair. The value is the result of that."""
        task = self._task
        task.tell(events.Repairing, kind=action.kind, force=action.repair_force, at=self.now())
        if not task.repairs:
            return Done(Result(message="this call has no way to repair"))
        done = yield MakeRepair(action.repair_force)
        if isinstance(done.error, Exception):  # a repair that cannot be made has failed
            done = Done(Result(message=f"{type(done.error).__name__}: {done.error}"))
        return done

    def load(self, result: Result) -> Generator[Step, Done, None]:
        """Load the plugin, if it is not loaded."""
        if not self._task.policy.plugin.loaded:
            done = yield LoadPlugin()
            if isinstance(done.error, PluginError):
                done.error.result = result
            if done.error is not None:
                raise done.error
        self._task.tell_loading()

    def choose_policy(self, result: Result) -> Task:
        """Fix what the call goes by, at its first failure, and get its task so far."""
        try:
            self._task = self._task.by_what_is_in_force()
        except PluginError as e:
            e.result = result
            raise
        return self._task

    def _decide(self, result: Result, now: float) -> Generator[Step, Done, Retry | Stop]:
        self.seen = wire.micros(now, "now")
        yield from self.load(result)
        if self._session is None:
            task = self.choose_policy(result)
            self._session = Session(task.policy, task.call, task.seed)
            self._session.on_replaced = task.tell_replaced
        return self._session.next(result, now)

    def wait(self, action: Retry) -> Generator[Step, Done, Done]:
        """Wait until the delay is over. It counts from the event that led to the
        action, so the time to load the plugin and to decide is part of it.

        The value is ``None`` after the whole wait; what woke it, if the server
        came back; or ``"down"`` or ``"not_ready"``, after the whole wait, if that
        is how the server is seen.
        """
        task = self._task
        if not self._waited:
            self._watching.went("failed")  # else this wait goes on, or spreads those who were woken
        at = self.now()
        watch = self._watching.begin(action.wake)
        task.tell(
            events.Waiting,
            kind=action.kind,
            budget=action.budget,
            attempt=action.attempt,
            delay=action.delay,
            remaining=action.remaining,
            at=at,
            watched=action.wake.by if watch and action.wake else None,
            again=self._waited,
        )
        self._waited = True
        decided = max(0, wire.micros(at, "now") - self.seen)  # a clock may go backwards
        left = max(0, wire.micros(action.delay, "delay") - decided)
        if watch is None or action.wake is None:
            self._say_why(self._watching.why)
            done = yield Wait(wire.seconds(left))
            return done if done.error is not None else Done()
        held = min(left, max(0, wire.micros(action.wake.after, "after") - decided))
        watch.waits(action.wake.by, wire.seconds(held), wire.seconds(left))
        done = yield WatchedWait(watch, wire.seconds(left), wire.seconds(held), action.wake.by)
        if done.error is not None:
            return done
        self._say_why(watch.why)
        if done.value is not None:
            self._watching.end()  # it must be seen away again before it can come back
            self._noticed(events.Woken, by=done.value)
        # Of attempts that are counted none is left out: the last would wait for the deadline.
        elif not self._most and (why := watch.left_out(task.policy.plugin)) is not None:
            self._noticed(events.LeftOut, not_ready=why == "not_ready")
            done = Done(why)
        return done

    def _say_why(self, less: str) -> None:
        """Tell once why less of the server is looked at than was asked for."""
        if less and not self._said_why:
            self._said_why = True
            self._task.tell(events.Unwatched, at=self.now(), why=less)

    def _noticed(self, kind: Callable[..., events.Event], **details: Any) -> None:
        now = self.now()
        self.seen = wire.micros(now, "now")
        self._task.tell(kind, at=now, **details)

    def _tell_plugin(self, noticed: WakeBy | Literal["down", "not_ready"]) -> Retry | Stop:
        """Ask what to do after a wait that did not lead to its attempt."""
        assert self._session is not None
        now = wire.seconds(self.seen)
        if noticed == "down":
            return self._session.down(now)
        if noticed == "not_ready":
            return self._session.not_ready(now)
        return self._session.woken(noticed, now)

    def look_away(self) -> None:
        """End the watch: an attempt follows, or the call's end."""
        self._watching.end()

    def close(self) -> None:
        """The call is over, however it ended."""
        self._watching.end()
        self._watching.went("left")
        self._task.ended(None if isinstance(self.error, ToBeAwaited) else self.error)

    def _stopped(self, stop: Stop) -> Outcome:
        return self._task.stopped(self.explained(stop.outcome), self.now())

    def explained(self, outcome: Outcome) -> Outcome:
        """The end of a call, with what would have been evidence where that is what
        it lacks.
        """
        if outcome.reason == "streamed" and self._spent:
            return replace(outcome, evidence=self._spent)
        if outcome.type != "indeterminate":
            return outcome
        return replace(outcome, evidence=self._missing)

    def _last_allowed(self, action: Retry, now: float) -> Stop:
        """The end of a call that has made as many attempts as its caller allows. What may
        have been applied only the policy knows.
        """
        assert self._session is not None
        outcome = self._session.cancelled(now=now).outcome
        effects = "; nothing was applied" if self._task.call.write else ""
        if outcome.effects == "unknown":
            effects = "; it may have been applied: look before trying again"
        outcome = replace(
            outcome,
            type="indeterminate" if outcome.effects == "unknown" else "exhausted",
            kind=action.kind,
            reason="attempts",
            budget=action.budget,
            message=f"gave up after {tries(outcome.attempts, outcome.elapsed)}, all that its "
            f"caller allows{effects}",
        )
        return Stop(outcome)

    def _ended(self, outcome: Outcome) -> Ended:
        self._watching.over(outcome.type)
        return Ended(outcome, raised=self.raised)

    def failed(self, error: BaseException, attempted: bool) -> Ended:
        """The end by an error. One that is no Exception is the caller's cancel,
        such as Ctrl-C or a task's cancelling, and the hooks are told so.
        """
        if not isinstance(error, (Exception, GeneratorExit)):
            self._cancelled(attempted)
        self.error = error
        return Ended(error=error, raised=self.raised)

    def _cancelled(self, attempted: bool) -> None:
        """Tell how far the call has come. The plugin is not asked: where thousands of
        tasks are cancelled at once, each wants to be gone.
        """
        task, action, last = self._task, self._action, self.undecided
        call = task.call
        # What an attempt in which it comes has done is not known; nor what one had that
        # was repeated all the same; nor what one that nobody has judged, unless it was seen.
        unknown = attempted or (last is not None and last.sent != "no")
        doubt = call.write and (unknown or (call.repeatable and action is not None))
        before = 0 if action is None else action.attempt - 1
        kind = "" if action is None else action.kind
        made = before + (attempted or last is not None)
        task.cancelled(self.began, self.now(), made, kind, doubt)
