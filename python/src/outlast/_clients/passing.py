"""A request on its way through a transport, attempt by attempt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._call.answers import retry_after
from .._call.result import Result
from .._run import perform
from .._run.decorator import attach, failure_of
from .._time import clock

if TYPE_CHECKING:
    from .._run.steps import Ended
    from .bodies import Body
    from .options import Settings
    from .task import RequestTask

R = TypeVar("R")

Answered = Callable[[R], Result]
"""What a response says of its attempt."""


def answer(status: int, headers: Any, reason: str | None) -> Result:
    """The result of an answer. Its body is the caller's."""
    if status < 400:
        return _well(status)
    after = retry_after(headers.get("Retry-After"))
    return Result(http_status=status, message=reason or "", retry_after=after)


@lru_cache(maxsize=64)
def _well(status: int) -> Result:
    return Result(http_status=status)


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
        try:
            ended = perform.run(self._task, self.attempt, clock.current().sleep, None, again=self)
            return self._result(ended)
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
        try:
            ended = await perform.arun(
                self._task, self.attempt, clock.current().asleep, None, again=self
            )
            return self._result(ended)
        finally:
            if self._response is not None:
                await self.drop()
