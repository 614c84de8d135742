"""Is the server back? A call that waits for it need not sleep through its return.

::

    policy.run(attempt, call, ready=outlast.ready.Server("http://graph:8080/healthz"))

While the policy waits, the server is looked at every 50 to 150 ms. The policy
decides what that counts for: a read goes on once the server accepts a
connection, a write once its health check has been answered as expected twice,
and attempts that would fail while the server is down are left out. While the
health check is answered 503 the server is not ready: nobody goes on, and attempts
are left out for one cap of the backoff at most.
"""

from __future__ import annotations

from collections.abc import Callable

from ._watch import watcher
from ._watch.readiness import Readiness, Seen, Watch
from ._watch.target import parse, parse_omnigraph


class Server:
    """Watches a server. All calls of a process that wait for the same one share
    its looks, and go to it in turn when it is back; there are no looks while nobody
    waits. On Linux those of all processes of a user do, as docs/looking.md has it.

    A look tries all addresses of the name at once. It sends no token, cookie or
    user name, follows no redirect, and uses no proxy: do not give one to calls
    that reach their server through a proxy, or they would see another server.

    Args:
        target: ``tcp://host:port``, which only says that a connection is accepted
            and so never wakes a write, or an HTTP URL, which without a path asks
            for ``/healthz``. Statuses that say ready stand behind a ``#``:
            ``http://graph:8080/up#200,204``; 200 to 299 do without.

    Raises:
        ValueError: If *target* cannot be read.
    """

    def __init__(self, target: str) -> None:
        self._target = parse(target)

    def watch(self, eager: bool, news: Callable[[], None]) -> Watch:
        """Begin to look."""
        return watcher.join(self._target, eager, news)

    def __repr__(self) -> str:
        target = self._target
        return f"{type(self).__name__}({target.scheme}://{target.host}:{target.port})"


class Omnigraph(Server):
    """Watches a server of omnigraph's, which says itself what it is doing.

    A look asks for ``/readyz``: 200 is ready, and 503 with the status loading is
    not ready yet, which wakes nobody. Where that is 404, 200 of ``/healthz`` is
    ready if it names a release below 0.11, which listened no sooner than it could
    serve.

    Args:
        url: The server's, with the path that stands before its own ones. A user
            name in it is not sent.

    Raises:
        ValueError: If *url* cannot be read.
    """

    def __init__(self, url: str) -> None:
        self._target = parse_omnigraph(url)


__all__ = ["Omnigraph", "Readiness", "Seen", "Server", "Watch"]
