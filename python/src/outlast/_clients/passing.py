"""A request on its way through a transport, attempt by attempt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._call.answers import retry_after
from .._call.result import Result
from .._evidence.requests import current
from .._run import perform
from .._run.decorator import attach, failure_of
from .._run.steps import Done, Made
from .._time import clock

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from .._run.steps import Ended
    from .bodies import Body
    from .options import Settings
    from .task import RequestTask

R = TypeVar("R")

Answered = Callable[[R], Result]
"""What a response says of its attempt."""


def answer(status: int, headers: Any, reason: str | None) -> Result:
    """The result of an answer, whose body is the caller's."""
    if status < 400:  # nearly all
        return _well(status)
    after = retry_after(headers.get("Retry-After"))
    return Result(http_status=status, message=reason or "", retry_after=after)


@lru_cache(maxsize=64)
def _well(status: int) -> Result:
    """The result of one below 400. A redirect, or that nothing has changed, is a success too,
    which to a policy only a status from 200 to 299 is.
    """
    return Result(http_status=status) if status // 100 == 2 else Result(exit_code=0)


class _Passing(Generic[R]):
    """What both kinds have.

    Args:
        settings: The transport's.
        task: The request's.
        answered: Reads a response.
        body: The request's; ``None``: it can be sent again as it is.
    """

    def __init__(
        self,
        settings: Settings,
        task: RequestTask,
        answered: Answered[R],
        body: Body | None,
    ) -> None:
        self._settings = settings
        self._task = task
        self._answered = answered
        self._body = body
        self._response: R | None = None

    def spent(self) -> str:
        """Why the request cannot be sent again."""
        return "" if self._body is None else self._body.spent()

    def _begin(self) -> None:
        """Begin with the first attempt."""
        self._quiet = self._task.is_quiet  # nobody hears of it if it succeeds
        if not self._quiet:
            self._task = self._task.begun()
        self._seen = self._task.look_on(current.get())
        self._started = clock.now()

    def _around(self) -> AbstractContextManager[None]:
        return self._task.around(1, self._started, self._seen)

    def _made(self, done: Done) -> Made:
        """The first attempt, for who goes on from there."""
        if self._quiet:
            self._task = self._task.begun()
        return Made(done, self._seen, self._started, clock.now())

    def _settled(self, result: Result) -> R | None:
        """The response, if the first attempt is all that there is to the request. This is the
        way of nearly all requests, so it is a short one.
        """
        task = self._task
        if not task.settles(result):
            return None
        if self._seen is not None:
            self._seen.forget()
        if not self._quiet:
            at, told = clock.now(), copy(result)  # checked already, which takes its time
            vars(told).update(started=self._started, ended=at)
            task.tell_attempt(1, told, at)
            task.succeeded(told, at)
            task.ended(None)
        return self._taken()

    def _taken(self) -> R | None:
        response, self._response = self._response, None
        return response

    def _result(self, ended: Ended) -> R:
        """The response, or the exception that ends the request."""
        outcome = perform.finish(ended, self._task.call, check=False)
        if ended.raised is not None:
            raise failure_of(outcome, self._task.call, ended.raised, self._settings.reraise)
        response = self._taken()
        assert response is not None
        if outcome.kind or outcome.attempts > 1:  # the policy was asked
            attach(response, outcome)
        return response


class Passing(_Passing[R]):
    """A request on this thread.

    Args:
        send: Makes an attempt.
        close: Lets go of a response that nobody will read.
    """

    def __init__(
        self,
        settings: Settings,
        task: RequestTask,
        send: Callable[[], R],
        answered: Answered[R],
        close: Callable[[R], object],
        body: Body | None = None,
    ) -> None:
        super().__init__(settings, task, answered, body)
        self._send, self._close = send, close

    def attempt(self) -> Result:
        """Make an attempt."""
        if self._body is not None:
            self._body.give()
        self._response = self._send()
        return self._answered(self._response)

    def drop(self) -> None:
        """Let go of the last response."""
        response = self._taken()
        if response is not None:
            self._close(response)

    def run(self) -> R:
        """Carry it out."""
        self._begin()
        try:
            with self._around():
                done = Done(self.attempt())
            response = self._settled(done.value)
            if response is not None:
                return response
        except BaseException as e:
            done = Done(error=e)
        made = self._made(done)
        sleep = clock.current().sleep
        try:
            return self._result(perform.run(self._task, self.attempt, sleep, None, self, made))
        finally:
            self.drop()


class AsyncPassing(_Passing[R]):
    """A request in an event loop; as :class:`Passing`."""

    def __init__(
        self,
        settings: Settings,
        task: RequestTask,
        send: Callable[[], Awaitable[R]],
        answered: Answered[R],
        close: Callable[[R], Awaitable[object]],
        body: Body | None = None,
    ) -> None:
        super().__init__(settings, task, answered, body)
        self._send, self._close = send, close

    async def attempt(self) -> Result:
        """Make an attempt."""
        self._response = await self._send()
        return self._answered(self._response)

    async def drop(self) -> None:
        """Let go of the last response."""
        response = self._taken()
        if response is not None:
            await self._close(response)

    async def run(self) -> R:
        """Carry it out."""
        self._begin()
        try:
            with self._around():
                done = Done(await self.attempt())
            response = self._settled(done.value)
            if response is not None:
                return response
        except GeneratorExit as e:
            self._task.ended(e)
            raise
        except BaseException as e:
            done = Done(error=e)
        made = self._made(done)
        sleep = clock.current().asleep
        try:
            ended = await perform.arun(self._task, self.attempt, sleep, None, self, made)
            return self._result(ended)
        finally:
            await self.drop()
