"""A request as a task, and what watches its address."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .._run.task import Task

if TYPE_CHECKING:
    from .._call.result import Result
    from .._watch.readiness import Watch


class RequestTask(Task):
    """A call that is one request of a client. An answer that no rule of the policy would
    try again is the caller's to read, whatever it says: it is no failure of the call's.
    """

    def settles(self, result: Result) -> bool:
        """Whether a first attempt with this result is all that there is to the call."""
        status = result.http_status
        return status is not None and (status < 400 or not self.policy.waits_for(status))


class Address:
    """Watches where a request goes: whether a connection is accepted there."""

    __slots__ = ("_host", "_port")

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port

    def watch(self, eager: bool, news: Callable[[], None]) -> Watch:
        """Begin to look."""
        from .._watch import watcher
        from .._watch.target import Target

        return watcher.join(Target("tcp", self._host, self._port), eager, news)
