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
    """The loop's part that waits for nothing. What is in a ``for`` is another object, so that
    the call has ended, for its hooks too, once nobody has that: a body may leave the loop.
    """

    def __init__(self, task: Task, reraise: bool) -> None:
        self._task, self._reraise = task.begun(), reraise
        self._driver = Driver(self._task)
        self._steps = self._driver.steps()
        self.step: Step | None = None
        self._open = True
        self._ended: Ended | None = None
        self._block: AttemptBlock | None = None
        self._number = 0

    @property
    def task(self) -> Task:
        """The call's."""
        return self._task

    def go_on(self, done: Done | None) -> None:
        """Tell how the last step ended, and get the next."""
        with Within(None):  # what is done besides the attempts is no part of one around it
            try:
                self.step = next(self._steps) if done is None else self._steps.send(done)
            except StopIteration as end:
                self.step, self._ended = None, end.value
            except BaseException as e:  # such as a clock's, or Ctrl-C between two steps
                self.step, self._driver.error = None, e
                self._close()
                raise

    def begin(self) -> None:
        """Go on after a body, which must have been an attempt."""
        if self._block is not None and not self._block.over:
            raise RuntimeError("outlast: the body of the loop must be in `with attempt:`")
        if self._block is None:
            self.go_on(None)

    def ready(self) -> AttemptBlock | None:
        """The next attempt, if it is next."""
        if not isinstance(self.step, MakeAttempt):
            return None
        self._number += 1
        self._block = AttemptBlock(self, self._number, self.step.within)
        return self._block

    def failure(self) -> BaseException | None:
        """What the call ends with, if it has ended, and not well."""
        ended, self._ended = self._ended, None
        if ended is None:
            return None
        self._close()
        if ended.error is not None and ended.raised is not None:
            ended.error.__cause__ = ended.raised
        if ended.error is not None or ended.outcome is None or ended.outcome.ok:
            return ended.error
        assert ended.raised is not None
        return failure_of(ended.outcome, self._task.call, ended.raised, self._reraise)

    def look_away(self) -> None:
        """End the watch."""
        self._driver.look_away()

    def leave(self) -> None:
        """Nobody goes on with it."""
        if self._open:
            self._driver.error = GeneratorExit()
            self._close()

    def _close(self) -> None:
        self._open = False
        self._driver.close()


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
        if self.over:
            raise RuntimeError("outlast: an attempt is made once: the loop gives the next one")
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


class AttemptLoop:
    """The attempts, in a ``for``."""

    def __init__(self, task: Task, reraise: bool) -> None:
        self._loop = _Loop(task, reraise)

    def __iter__(self) -> AttemptLoop:
        return self

    def __next__(self) -> AttemptBlock:
        loop = self._loop
        loop.begin()
        carry_out = perform.performer(loop.task, _never, clock.current().sleep, None)
        try:
            while loop.step is not None:
                block = loop.ready()
                if block is not None:
                    return block
                try:
                    with Within(None):
                        done = Done(carry_out(loop.step))
                except BaseException as e:
                    done = Done(error=e)
                loop.go_on(done)
        finally:
            loop.look_away()
        raise loop.failure() or StopIteration

    def __del__(self) -> None:
        self._loop.leave()


class AsyncAttemptLoop:
    """The attempts, in an ``async for``."""

    def __init__(self, task: Task, reraise: bool) -> None:
        self._loop = _Loop(task, reraise)

    def __aiter__(self) -> AsyncAttemptLoop:
        return self

    async def __anext__(self) -> AttemptBlock:
        loop = self._loop
        loop.begin()
        try:
            while loop.step is not None:
                block = loop.ready()
                if block is not None:
                    return block
                try:
                    with Within(None):
                        done = Done(await _carry_out(loop.step, loop.task))
                except GeneratorExit:
                    loop.leave()
                    raise
                except BaseException as e:
                    done = Done(error=e)
                loop.go_on(done)
        finally:
            loop.look_away()
        raise loop.failure() or StopAsyncIteration

    def __del__(self) -> None:
        self._loop.leave()


async def _carry_out(step: Step, task: Task) -> object:
    match step:
        case Wait(seconds):
            await clock.current().asleep(seconds)
            return None
        case WatchedWait():
            return await step.await_()
    return await perform.aperform(step, task, None)


def _never() -> Result:
    raise AssertionError("the attempt is the loop's body")
