"""A request as a task, and what watches its address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from .._run.task import Task
from .._watch.target import Target, parse

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
        return result.ok or (status is not None and not self.policy.waits_for(status))


class Address:
    """Watches where requests go. Nothing that looks is loaded before one waits."""

    __slots__ = ("_target",)

    def __init__(self, target: Target) -> None:
        self._target = target

    @classmethod
    def of(cls, origin: tuple[str, str, int], ready: str = "") -> Address | None:
        """Watches a request's own address, or asks for a server's health.

        Args:
            origin: Where the request goes: a scheme, a host and a port.
            ready: A path there, or a URL; ``""``: only whether connections are accepted.

        Returns:
            ``None`` if the URL is another host's.

        Raises:
            ValueError: If *ready* cannot be read.
        """
        scheme, host, port = origin
        if not ready:
            return cls(Target("tcp", host, port))
        if not ready.startswith("/"):
            target = parse(ready)
            return cls(target) if target.host == host else None
        return cls(replace(parse(f"{scheme}://host{ready}"), host=host, port=port))

    def watch(self, eager: bool, news: Callable[[], None]) -> Watch:
        """Begin to look."""
        from .._watch import watcher

        return watcher.join(self._target, eager, news)
