"""What was seen of the requests of one attempt.

Nothing counts as unsent because nobody saw it. A request is seen where it passes:
the clients' own methods are watched, and Python's sockets below them. What is seen
is charged to the attempt in whose context it happens.
"""

from __future__ import annotations

import sys
import time
import weakref
from contextlib import suppress
from contextvars import ContextVar, Token
from functools import partial
from typing import Any

from .unseen import unseen

current: ContextVar[Requests | Request | None] = ContextVar("outlast_attempt", default=None)
"""The attempt that is being made, or its request that a client is carrying out;
``None`` outside of one."""


class Connection:
    """What is known of a connection.

    Attributes:
        made: When it was made, on :func:`time.monotonic`; 0: before anybody looked.
        peer: Where it leads to; ``None``: nobody has asked.
    """

    __slots__ = ("made", "peer")

    def __init__(self, made: float) -> None:
        self.made = made
        self.peer: Any = None


connections: weakref.WeakKeyDictionary[Any, Connection] = weakref.WeakKeyDictionary()
"""Those that a request has used, or that were made since somebody looks."""


SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")
"""The methods by which nothing is changed (RFC 9110, section 9.2.1)."""


class Within:
    """Makes something the current attempt, or request, for a while; or nothing."""

    __slots__ = ("_token", "_what")

    def __init__(self, what: Requests | Request | None) -> None:
        self._what = what
        self._token: Token[Requests | Request | None] | None = None

    def __enter__(self) -> None:
        if self._what is not current.get():
            self._token = current.set(self._what)

    def __exit__(self, *_: object) -> None:
        if self._token is None:
            return
        try:  # noqa: SIM105  each request comes here, and suppress() takes its time
            current.reset(self._token)
        except ValueError:  # a coroutine that is thrown away ends in any context
            pass


MOST_KEPT = 1000
"""How many requests of an attempt, and sockets, are known one by one; of more there is only
the number (a choice): an attempt may go on for days, such as a worker's.
"""


class Requests:
    """What was seen of the requests of one attempt.

    Attributes:
        last: The request that was begun last.
        late: What was sent after the attempt had ended; ``""``: nothing.
    """

    # What is to be done when the attempt ends, by its identity, as long as it is there: an
    # attempt may go on for days.
    _jobs: weakref.WeakValueDictionary[int, Any] | None = None
    _timers: weakref.WeakValueDictionary[int, Any] | None = None

    def __init__(self, outer: Requests | Request | None = None) -> None:
        self.began = time.monotonic()
        self.last: Request | None = None
        self.late = ""
        self._outer = outer.attempt if outer is not None else None
        self._gone: set[Request] = set()
        self._more = self._more_changing = 0  # that have left besides, and of these the unsafe
        self._other = ""  # what else was sent
        self._hidden = ""  # what keeps the rest from being seen
        self._ended = False
        self._sockets: list[weakref.ref[Any]] = []  # that its requests use

    @property
    def attempt(self) -> Requests:
        """Itself, as for a request."""
        return self

    @property
    def over(self) -> bool:
        """Whether the attempt has ended, so that what is begun now is none of its own."""
        return self._ended

    def end(self) -> None:
        """The attempt has ended: what is under way still may be sent."""
        if any(not job.done() for job in tuple((self._jobs or {}).values())):
            self.hide("a task that it began still runs")
        elif self.sent_nothing and self._waits():
            self.hide("a callback that it left with the event loop is still to run")
        self._look()
        self._ended = True

    def forget(self) -> None:
        """Let go of what was seen, which a kept connection's context may hold on to.
        What is sent from now on is late all the same.
        """
        self._ended = True
        self.last = None
        self._sockets.clear()
        for name in ("_jobs", "_timers"):
            vars(self).pop(name, None)
        self._gone.clear()

    def adopt(self, part: Requests) -> None:
        """What was seen of a part of the attempt is the attempt's."""
        self.last = part.last
        self._gone |= part._gone
        self._more += part._more
        self._more_changing += part._more_changing
        self._other = self._other or part._other
        self._hidden = self._hidden or part._hidden
        part._outer = self

    # What the watched places tell.

    def begin(
        self, client: str, host: str | None = "", port: int | None = 0, method: str = ""
    ) -> Request:
        """A client begins a request, or a connection for one."""
        request = Request(self, client, host or "", port or 0, method)
        each: Requests | None = self
        while each is not None:
            each.last = request
            each = each._outer
        return request

    def writes(self, sock: Any) -> None:
        """Something is written to a socket that no watched client writes to."""
        if not any(each() is sock for each in self._sockets):
            self.sends("bytes were written to a socket")

    def connects(self, sock: Any, address: Any) -> None:  # noqa: ARG002
        """A connection is made by no watched client."""
        host, port = address[:2] if isinstance(address, tuple) else (str(address), 0)
        self.begin("a socket", str(host), port if isinstance(port, int) else 0)

    def sends(self, what: str) -> None:
        """Something was sent that was not seen as a request."""
        self._other = self._other or what
        self._tell_late(what)
        if self._outer is not None:
            self._outer.sends(what)

    def hide(self, what: str) -> None:
        """Something went where it cannot be seen."""
        self._hidden = self._hidden or what
        self._tell_late(what)
        if self._outer is not None:
            self._outer.hide(what)

    def job(self, task: Any) -> None:
        """A task, or a thread in this context, that must be done when the attempt ends."""
        self._keep("_jobs", task)
        if self._outer is not None:
            self._outer.job(task)

    def timer(self, handle: Any) -> None:
        """A timer of an event loop, which must have run, or be cancelled, likewise."""
        self._keep("_timers", handle)
        if self._outer is not None:
            self._outer.timer(handle)

    def _keep(self, name: str, what: Any) -> None:
        kept = getattr(self, name)
        if kept is None:  # of two threads, one makes it
            kept = vars(self).setdefault(name, weakref.WeakValueDictionary())
        kept[id(what)] = what

    def left(self, request: Request) -> None:
        """A request leaves."""
        if len(self._gone) < MOST_KEPT:
            self._gone.add(request)
        elif request not in self._gone:
            self._more += 1
            self._more_changing += not request.safe
        if self._ended:
            self._tell_late(f"{request} left")
        if self._outer is not None:
            self._outer.left(request)

    def unsent(self, request: Request) -> None:
        """A request has left, and its server says that it will not look at it."""
        self._gone.discard(request)
        if self._outer is not None:
            self._outer.unsent(request)

    def owns(self, sock: Any) -> None:
        """A socket that a watched client writes to."""
        if len(self._sockets) < MOST_KEPT:
            self._sockets.append(weakref.ref(sock))
        if self._outer is not None:
            self._outer.owns(sock)

    def _tell_late(self, what: str) -> None:
        if self._ended:
            self.late = self.late or what

    def _waits(self) -> bool:
        """Whether the event loop is still to run something of the attempt's."""
        timers = tuple((self._timers or {}).values())
        if any(timer._scheduled and not timer.cancelled() for timer in timers):
            return True
        events = sys.modules.get("asyncio.events")
        loop = None if events is None else events._get_running_loop()
        # Thousands of calls may fail at once, and other threads add to it meanwhile.
        for each in tuple(getattr(loop, "_ready", ())):
            inner = each._context.get(current)
            while inner is not None and inner is not self:  # but of a call within the attempt
                inner = getattr(inner, "_outer", None)
            if inner is not None and not each.cancelled() and not _is_own(each._callback):
                return True
        return False

    def _look(self) -> None:
        what = unseen(sys.modules)
        if what:
            self.hide(what)

    # What follows.

    @property
    def sent_nothing(self) -> bool:
        """Whether requests were seen, and none has left, and nothing else can have."""
        gone = self._gone or self._more
        return self.last is not None and not (gone or self._other or self._hidden)

    @property
    def sent_one(self) -> bool:
        """Whether one request was seen leaving, and nothing else can have."""
        return len(self._gone) + self._more == 1 and not (self._other or self._hidden)

    def belies(self, requests: int) -> bool:
        """Whether more than so many requests were seen leaving that may change
        something, or something else: then a claim of its caller's is wrong.
        """
        changing = sum(not request.safe for request in self._gone) + self._more_changing
        return changing > requests or bool(self._other)

    @property
    def gone(self) -> str:
        """The requests that were seen leaving, for a person; ``""`` if none was."""
        if len(self._gone) < 2:
            return "".join(map(str, self._gone))
        names = ", ".join(sorted(set(map(str, self._gone))))
        return f"{len(self._gone) + self._more} requests ({names})"

    @property
    def hidden(self) -> str:
        """What keeps this from being evidence that nothing was sent, for a person."""
        return self._hidden or self._other or "it makes no request that is watched"


class Request:
    """One request of an attempt, as a watched client carries it out.

    Attributes:
        attempt: Whose it is.
        safe: It asks for no change.
        left: It has a connection, and is on its way.
        answered: The head of its answer has come.
        stream: Its number on a connection of HTTP/2; 0: not known.
        made: When its connection was made; ``None`` before it is used.
        peer: Where that leads to.
    """

    def __init__(self, attempt: Requests, client: str, host: str, port: int, method: str) -> None:
        self.attempt = attempt
        self.safe = method.upper() in SAFE
        self.left = False
        self.answered = False
        self.stream = 0
        self.made: float | None = None
        self.peer: Any = None
        self._name = client, host, port
        self._sock: weakref.ref[Any] | None = None

    def __str__(self) -> str:
        client, host, port = self._name
        return f"a request by {client} to {host}:{port}" if host else f"a request by {client}"

    def leaves(self, stream: int = 0) -> None:
        """It is about to be sent."""
        self.left, self.stream = True, stream
        self.attempt.left(self)

    def unsent(self) -> None:
        """The server says that it will not look at it."""
        self.left = False
        self.attempt.unsent(self)

    # What the watched places tell while a client carries it out: that is known.

    def begin(self, *args: Any) -> Request:
        """Another request meanwhile, such as one that gives it its body."""
        return self.attempt.begin(*args)

    def connects(self, sock: Any, address: Any) -> None:
        """Its connection is made."""

    def writes(self, sock: Any) -> None:
        """Bytes of it are written."""
        known = None if self._sock is None else self._sock()
        if known is sock:
            return
        if known is not None and self.left:
            self.attempt.writes(sock)
            return
        connection = connections.get(sock)
        if connection is None:
            connection = connections[sock] = Connection(0.0)
        if connection.peer is None:
            with suppress(OSError):
                connection.peer = (sock.family, sock.getpeername())
        self._sock, self.made, self.peer = weakref.ref(sock), connection.made, connection.peer
        self.attempt.owns(sock)

    def hide(self, what: str) -> None:
        """The client's own affair, such as the thread that resolves a name."""

    def job(self, task: Any) -> None:
        """A task of the client's."""

    def timer(self, handle: Any) -> None:
        """A timer of the client's."""


def _is_own(callback: Any) -> bool:
    """What an event loop does for itself: it closes a connection, or tells a task, or
    somebody who waits, that something has ended. A task that has not is another matter.
    """
    while isinstance(callback, partial):
        callback = callback.func
    owner: Any = getattr(callback, "__self__", None)
    if hasattr(owner, "get_coro"):
        return bool(owner.done())
    module = getattr(callback, "__module__", None) or type(owner).__module__
    own = ("asyncio.", "_asyncio", "builtins")
    return module.startswith(own) and getattr(callback, "__name__", "") not in _WRITES


_WRITES = ("write", "writelines", "write_eof", "sendto", "set", "put_nowait")
