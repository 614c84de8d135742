"""Carries out a call: the plugin drives, and calls back for the time, for sleep
and for each attempt.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from .._call.action import Retry, Stop, UnknownActionError, read_action
from .._call.errors import PluginError
from .._call.outcome import Outcome, read_outcome
from .._call.result import Result
from .._evidence.requests import Within
from .._plugin.envelope import AnswerError, is_answer, open_envelope
from .._policy.request import random_seed, told, told_result
from .._time.clock import Sleep
from .._wire import values as wire
from .drive import Driver
from .perform import Attempter, Perform, Repairer, complete, performer
from .steps import Done, Ended, Step
from .task import Task

T = TypeVar("T")

Event = dict[str, Any]


def run(task: Task, attempt: Attempter, sleep: Sleep, repair: Repairer | None) -> Ended:
    """Carry out a task on the calling thread, with an instance of its own."""
    task = task.begun()
    callbacks = _Callbacks(task, performer(task, attempt, sleep, repair))
    try:
        with Within(None):
            outcome = callbacks.drive()
    except BaseException as e:
        callbacks.driver.error = e
        return Ended(error=e, raised=callbacks.driver.raised)
    finally:
        callbacks.driver.close()
    return Ended(outcome, raised=callbacks.driver.raised)


class _Callbacks:
    """The host functions of one call. They keep the last state and event, so
    that another instance can go on where one fails.

    An exception cannot pass through the plugin, so it is kept here and the
    plugin is told that the call was cancelled; it is raised again after that.
    """

    def __init__(self, task: Task, perform: Perform) -> None:
        self._task = task
        self._perform = perform
        self.driver = Driver(task)
        self._call = task.call._members(random_seed(task.seed))
        self._state = ""
        self._next: Event | None = None  # follows on the state; None: an attempt
        self._moved = False  # since the last instance was started
        self._error: BaseException | None = None
        self._last: Result | None = None

    def drive(self) -> Outcome:
        """The whole call."""
        done = self._complete(self.driver.attempt(1))
        if done.error is not None:
            self.driver.failed(done.error, attempted=True)
            raise done.error
        first: Result = done.value
        now = self.driver.now()
        if first.ok:
            return self._task.succeeded(first, now)
        self.driver.undecided = first
        try:
            self._complete(self.driver.load(first))
        except BaseException as e:
            self.driver.failed(e, attempted=False)
            raise
        self._task = self.driver.choose_policy(first)
        self._next = self._event("attempted", first, now)
        try:
            self._call = told(self._call, self._task.policy.plugin)
        except PluginError as e:
            raise self._plugin_error(e) from None
        while True:
            answer = self._answer()
            if isinstance(self._error, Exception) or (self._error is not None and not answer):
                raise self._error
            if "continue" not in answer:
                break
            self._state, self._next = answer["continue"]["state"], answer["continue"]["first"]
        outcome = replace(read_outcome(answer["outcome"]), result=self._last)
        outcome = self._task.stopped(self.driver.explained(outcome), self.driver.now())
        if self._error is not None:
            raise self._error
        return outcome

    def _answer(self) -> Mapping[str, Any]:
        """What the export answers; nothing if this host's own error kept it from that."""
        try:
            return self._run()
        except Exception as e:
            if self._error is None:
                raise self._plugin_error(e) from e
        return {}

    def _plugin_error(self, error: Exception) -> Exception:
        if isinstance(error, AnswerError):
            return error.refusal("running the policy", self._last)
        if isinstance(error, PluginError):
            error.result = self._last
        return error

    def _run(self) -> Mapping[str, Any]:
        """What the export answers. An instance that fails is replaced, and the
        call goes on with its state, unless two fail in a row at the same point.
        """
        failed: Exception | None = None
        while True:
            self._moved = False
            try:
                return self._run_once()
            except Exception as e:
                if self._error is not None or is_answer(e):
                    raise
                self._task.policy.plugin.count_replaced()
                self._task.tell_replaced(e)
                if failed is not None and not self._moved:
                    raise PluginError("running the policy", f"{failed} (and again: {e})") from e
                failed = e

    def _run_once(self) -> Mapping[str, Any]:
        request: dict[str, Any] = {"call": self._call}
        if self._state:
            request["state"] = self._state
        if self._next is not None:
            request["first"] = self._next
        policy = self._task.policy
        text = b'{"policy":' + policy._whole_text() + b"," + wire.dumps(request)[1:]
        instance = policy.plugin.new_instance()
        try:
            return open_envelope(instance.call("run", text, self))
        finally:
            instance.close()

    # What the plugin calls.

    def now(self) -> bytes:
        return wire.dumps({"now_us": self._micros(self.driver.now())})

    def sleep(self, action: bytes) -> bytes:
        retry = self._read(action)
        if retry is None:
            return b""
        done = self._complete(self.driver.wait(retry))
        if done.error is not None:
            self.failed(done.error)
            self._next = self._event("cancelled", None, self.driver.now())
            return wire.dumps({"wait": "cancelled", "now_us": self.driver.seen})
        if done.value is None:
            return wire.dumps({"wait": "full", "now_us": self._micros(self.driver.now())})
        told: Event = {"now_us": self.driver.seen}
        wait = done.value if done.value in ("down", "not_ready") else "woken"
        if wait == "woken":
            told["by"] = done.value
        self._next = {"type": wait, **told}
        return wire.dumps({"wait": wait, **told})

    def attempt(self, action: bytes) -> bytes:
        retry = self._read(action)
        if retry is None:
            return b""
        if retry.repair:
            done, kind = self._complete(self.driver.repair(retry)), "repaired"
        else:
            done, kind = self._complete(self.driver.attempt(retry.attempt)), "attempted"
        if done.error is not None:
            self.failed(done.error)
            # What the attempt has done is not known: that is how a policy sees
            # an attempt which Ctrl-C ended.
            done, kind = Done(Result(signal="SIGINT")), "cancelled"
        self._next = self._event(kind, done.value, self.driver.now())
        return wire.dumps(self._next)

    def failed(self, error: BaseException) -> None:
        if self._error is None:
            self._error = error

    def _read(self, text: bytes) -> Retry | None:
        """Note the state that an action comes with. One that this package does
        not know stops the call, and so does an earlier error.
        """
        if self._error is not None:
            return None
        members = json.loads(text)
        try:
            action = read_action(members)
        except UnknownActionError as e:
            self.failed(PluginError("running the policy", str(e), result=self._last))
            return None
        if isinstance(action, Stop):
            self.failed(PluginError("running the policy", "the plugin asks its host to stop"))
            return None
        self._state, self._next, self._moved = members.get("state", ""), None, True
        return action

    def _event(self, kind: str, result: Result | None, now: float) -> Event:
        self.driver.seen = self._micros(now)
        event: Event = {"type": kind, "now_us": self.driver.seen}
        if result is not None:
            event["result"] = told_result(result, self._task.call, self._task.policy)
            if kind == "attempted":
                self._last = result
        return event

    def _micros(self, now: float) -> int:
        return wire.micros(now, "clock")

    def _complete(self, steps: Generator[Step, Done, T]) -> T:
        return complete(steps, self._perform)
