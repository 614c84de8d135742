"""The loop of a call that Python drives, without anything that waits.

It is a generator of steps, so that one loop serves functions and coroutines:
each driver carries out the steps in its own way and sends back how they ended.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from . import _wire, events
from ._action import Readiness, Retry, Stop
from ._errors import PluginError
from ._lookout import LookOut, Lookout
from ._outcome import Outcome
from ._result import Result
from ._session import Session
from ._task import Task, timed


@dataclass(frozen=True)
class Attempt:
    """Make an attempt. Its value is a :class:`Result`."""


@dataclass(frozen=True)
class Load:
    """Load the plugin."""


@dataclass(frozen=True)
class Sleep:
    """Wait for so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Repair:
    """Repair. Its value is a :class:`Result`."""

    force: bool


@dataclass(frozen=True)
class Done:
    """How a step ended: with a value or an error."""

    value: Any = None
    error: BaseException | None = None


@dataclass(frozen=True)
class Ended:
    """How a call ended: with an outcome or an error, and the exception of the
    last attempt if it raised one.
    """

    outcome: Outcome | None = None
    error: BaseException | None = None
    raised: Exception | None = None


Step = Attempt | Load | Sleep | LookOut | Repair
"""What a driver has to do next."""

Steps = Generator[Step, Done, Ended]
"""A call as a generator of its steps."""


def drive(task: Task) -> Steps:
    """A call as a generator of its steps."""
    return Driver(task).steps()


class Driver:
    """Carries out what a policy asks for, and tells the hooks of it. Its parts
    serve a plugin that drives too.

    Attributes:
        seen: When the last event was, in microseconds. Delays count from there.
        raised: The exception of the last attempt, if it raised one.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._session: Session | None = None
        self._began = task.now()
        self.seen = 0
        self.raised: Exception | None = None
        self._lookout: Lookout | None = None  # since the last attempt; None: nobody watches
        self._waited = False  # since the last attempt

    def steps(self) -> Steps:
        """The whole call, with a plugin that only decides."""
        try:
            return (yield from self._steps())
        finally:
            self.look_away()

    def _steps(self) -> Steps:
        attempt, done = 1, Done()
        repair: Retry | None = None
        while True:
            if repair is None:
                done = yield from self.attempt(attempt)
            else:
                done = yield from self.repair(repair)
            if done.error is not None:
                return self._failed(done.error, attempted=True)
            result: Result = done.value
            now = self._task.now()
            if self._session is None and result.ok:
                return self._ended(self._task.succeeded(result, now))
            try:
                # Deciding waits for nothing, once the plugin is loaded.
                action = yield from self._decide(result, now)
            except BaseException as e:
                return self._failed(e, attempted=False)
            if isinstance(action, Stop):
                return self._ended(self._task.stopped(action.outcome))
            while action.delay > 0:
                done = yield from self.wait(action)
                if done.error is not None:
                    return self._failed(done.error, attempted=False)
                if done.value is None:
                    break
                try:
                    told = self._tell_plugin(done.value)
                except BaseException as e:
                    return self._failed(e, attempted=False)
                if isinstance(told, Stop):
                    return self._ended(self._task.stopped(told.outcome))
                action = told
            repair = action if action.repair else None
            attempt = action.attempt

    def attempt(self, attempt: int) -> Generator[Step, Done, Done]:
        """Make an attempt. The value is its result, with its times."""
        self.look_away()
        self._waited = False
        task = self._task
        started = task.now()
        done = yield Attempt()
        self.raised = None
        if done.error is not None:
            mapped = task.result_of(done.error) if isinstance(done.error, Exception) else None
            if mapped is None:
                return done
            assert isinstance(done.error, Exception)
            self.raised = done.error
            done = Done(mapped)
        ended = task.now()
        try:
            result = timed(done.value, started, ended)
        except TypeError as e:
            return Done(error=e)
        task.tell_attempt(attempt, result, ended)
        return Done(result)

    def repair(self, action: Retry) -> Generator[Step, Done, Done]:
        """Repair. The value is the result of that."""
        task = self._task
        task.tell(events.Repairing, kind=action.kind, force=action.repair_force, at=task.now())
        if not task.repairs:
            return Done(Result(message="this call has no way to repair"))
        done = yield Repair(action.repair_force)
        if isinstance(done.error, Exception):  # a repair that cannot be made has failed
            done = Done(Result(message=f"{type(done.error).__name__}: {done.error}"))
        return done

    def load(self, result: Result) -> Generator[Step, Done, None]:
        """Load the plugin, if it is not loaded."""
        if not self._task.policy.plugin.loaded:
            done = yield Load()
            if isinstance(done.error, PluginError):
                done.error.result = result
            if done.error is not None:
                raise done.error
        self._task.tell_loading()

    def _decide(self, result: Result, now: float) -> Generator[Step, Done, Retry | Stop]:
        self.seen = _wire.micros(now, "now")
        task = self._task
        if self._session is None:
            self._session = task.policy.session(task.call, task.seed)
            self._session.on_replaced = task.tell_replaced
        yield from self.load(result)
        return self._session.next(result, now)

    def wait(self, action: Retry) -> Generator[Step, Done, Done]:
        """Wait until the delay is over. It counts from the event that led to the
        action, so the time to load the plugin and to decide is part of it.

        The value is ``None`` after the whole wait; what woke it, if the server
        came back; or ``"down"`` or ``"not_ready"``, after the whole wait, if that
        is how the server is seen.
        """
        task = self._task
        at = task.now()
        lookout = self._look_out(action)
        task.tell(
            events.Waiting,
            kind=action.kind,
            budget=action.budget,
            attempt=action.attempt,
            delay=action.delay,
            remaining=action.remaining,
            at=at,
            watched=action.wake.by if lookout and action.wake else None,
            again=self._waited,
        )
        self._waited = True
        decided = max(0, _wire.micros(at, "now") - self.seen)  # a clock may go backwards
        left = max(0, _wire.micros(action.delay, "delay") - decided)
        if lookout is None or action.wake is None:
            done = yield Sleep(_wire.seconds(left))
            return done if done.error is not None else Done()
        held = min(left, max(0, _wire.micros(action.wake.after, "after") - decided))
        done = yield LookOut(lookout, _wire.seconds(left), _wire.seconds(held), action.wake.by)
        if done.error is not None:
            return done
        if done.value is not None:
            self.look_away()  # it must be seen away again before it can come back
            self._noticed(events.Woken, by=done.value)
        elif (why := lookout.left_out(task.policy.plugin)) is not None:
            self._noticed(events.LeftOut, not_ready=why == "not_ready")
            done = Done(why)
        return done

    def _noticed(self, kind: Callable[..., events.Event], **details: Any) -> None:
        now = self._task.now()
        self.seen = _wire.micros(now, "now")
        self._task.tell(kind, at=now, **details)

    def _tell_plugin(self, noticed: Readiness | Literal["down", "not_ready"]) -> Retry | Stop:
        """Ask what to do after a wait that did not lead to its attempt."""
        assert self._session is not None
        now = _wire.seconds(self.seen)
        if noticed == "down":
            return self._session.down(now)
        if noticed == "not_ready":
            return self._session.not_ready(now)
        return self._session.woken(noticed, now)

    def _look_out(self, action: Retry) -> Lookout | None:
        """Watch for a wait that may be cut short, if the call can."""
        if action.wake is None or self._task.ready is None:
            return None
        if self._lookout is None:
            self._lookout = Lookout(self._task.ready, action.wake)
        return self._lookout

    def look_away(self) -> None:
        """End the watch: an attempt follows, or the call's end."""
        if self._lookout is not None:
            self._lookout.stop()
            self._lookout = None

    def _ended(self, outcome: Outcome) -> Ended:
        return Ended(outcome, raised=self.raised)

    def _failed(self, error: BaseException, attempted: bool) -> Ended:
        """The end by an error. One that is no Exception is the caller's cancel,
        such as Ctrl-C or a task's cancelling, and the hooks are told so.
        """
        if not isinstance(error, (Exception, GeneratorExit)):
            self._cancelled(attempted)
        return Ended(error=error, raised=self.raised)

    def _cancelled(self, attempted: bool) -> None:
        task, session = self._task, self._session
        if session is None or not session.state:
            task.cancelled_at_once(self._began)
            return
        # What the attempt has done is not known: that is how a policy sees an
        # attempt which Ctrl-C ended.
        result = Result(signal="SIGINT") if attempted else None
        with suppress(PluginError):
            task.stopped(session.cancelled(result, task.now()).outcome)
