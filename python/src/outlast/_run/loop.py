"""A loop over a call's attempts, in a function and in a coroutine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._call.result import Result
from .._evidence.requests import Within
from .._time import clock
from . import perform
from .decorator import failure_of
from .drive import Driver
from .steps import Done, Ended, MakeAttempt, Step, Wait
from .watched_wait import WatchedWait

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from .task import Task


class _Loop:
    """The loop's part that waits for nothing."""

    def __init__(self, task: Task, reraise: bool) -> None:
        self._task, self._reraise = task.begun(), reraise
        self._driver = Driver(self._task)
        self._steps = self._driver.steps()
        self._step: Step | None = None
        self._ended: Ended | None = None
        self._block: AttemptBlock | None = None
        self._number = 0

    def go_on(self, done: Done | None) -> None:
        """Tell how the last step ended, and get the next."""
        with Within(None):  # what is done besides the attempts is no part of one around it
            try:
                self._step = next(self._steps) if done is None else self._steps.send(done)
            except StopIteration as end:
                self._step, self._ended = None, end.value

    def begin(self) -> None:
        """Go on after a body, which must have been an attempt."""
        if self._block is not None and not self._block.over:
            raise RuntimeError("outlast: the body of the loop must be in `with attempt:`")
        if self._block is None:
            self.go_on(None)

    def ready(self) -> AttemptBlock | None:
        """The next attempt, if it is next."""
        if not isinstance(self._step, MakeAttempt):
            return None
        self._number += 1
        self._block = AttemptBlock(self, self._number, self._step.within)
        return self._block

    def failure(self) -> BaseException | None:
        """What the call ends with, if it has ended, and not well."""
        ended, self._ended = self._ended, None
        if ended is None:
            return None
        self._driver.close()
        if ended.error is not None and ended.raised is not None:
            ended.error.__cause__ = ended.raised
        if ended.error is not None or ended.outcome is None or ended.outcome.ok:
            return ended.error
        assert ended.raised is not None
        return failure_of(ended.outcome, self._task.call, ended.raised, self._reraise)


class AttemptBlock:
    """One attempt, as what a ``with`` is for.

    Attributes:
        number: Counted from 1.
        over: Whether it has been made.
    """

    def __init__(self, loop: _Loop, number: int, within: AbstractContextManager[None]) -> None:
        self.number = number
        self.over = False
        self._loop = loop
        self._within = within

    def __enter__(self) -> AttemptBlock:
        self._within.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        self._within.__exit__(kind, error, traceback)
        self.over = True
        loop = self._loop
        loop.go_on(Done(_SUCCESS) if error is None else Done(error=error))
        failure = loop.failure()
        if failure is not None and failure is not error:
            raise failure
        return error is not None and failure is None


_SUCCESS = Result(exit_code=0)


class AttemptLoop(_Loop):
    """The attempts, in a ``for``."""

    def __iter__(self) -> AttemptLoop:
        return self

    def __next__(self) -> AttemptBlock:
        self.begin()
        carry_out = perform.performer(self._task, _never, clock.current().sleep, None)
        try:
            while self._step is not None:
                block = self.ready()
                if block is not None:
                    return block
                try:
                    with Within(None):
                        done = Done(carry_out(self._step))
                except BaseException as e:
                    done = Done(error=e)
                self.go_on(done)
        finally:
            self._driver.look_away()
        raise self.failure() or StopIteration


class AsyncAttemptLoop(_Loop):
    """The attempts, in an ``async for``."""

    def __aiter__(self) -> AsyncAttemptLoop:
        return self

    async def __anext__(self) -> AttemptBlock:
        self.begin()
        try:
            while self._step is not None:
                block = self.ready()
                if block is not None:
                    return block
                try:
                    with Within(None):
                        done = Done(await self._carry_out(self._step))
                except GeneratorExit as e:
                    self._driver.error = e
                    self._driver.close()
                    raise
                except BaseException as e:
                    done = Done(error=e)
                self.go_on(done)
        finally:
            self._driver.look_away()
        raise self.failure() or StopAsyncIteration

    async def _carry_out(self, step: Step) -> object:
        match step:
            case Wait(seconds):
                await clock.current().asleep(seconds)
                return None
            case WatchedWait():
                return await step.await_()
        return await perform.aperform(step, self._task, None)


def _never() -> Result:
    raise AssertionError("the attempt is the loop's body")
