"""Where an attempt hands work to somebody else: another task, thread or process, whose
requests nobody can charge to it. These places only withdraw what was seen.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping
from contextvars import Context, ContextVar
from functools import partial
from types import ModuleType
from typing import Any

from .patches import Patches
from .requests import Request, Requests, Within, current

THREAD = "a thread was started, and what it sent cannot be seen"

EVENTS = {
    "socket.connect": "a connection was made that was not watched",
    "socket.sendto": "bytes were written to a socket that is not watched",
    "socket.sendmsg": "bytes were written to a socket that is not watched",
    "os.kill": "another process was told something",
    "os.killpg": "another process was told something",
    **dict.fromkeys(
        (
            "subprocess.Popen",
            "os.exec",
            "os.fork",
            "os.forkpty",
            "os.posix_spawn",
            "os.spawn",
            "os.startfile",
            "os.system",
            "pty.spawn",
            "_winapi.CreateProcess",
        ),
        "a process was started, and what it sent cannot be seen",
    ),
    **dict.fromkeys(
        ("_thread.start_new_thread", "_thread.start_joinable_thread"),
        THREAD,
    ),
}
"""Python's audit events, of what no watched place has told of."""


def audit(
    event: str,
    _args: object,
    # At its end the interpreter takes a module's names away, and there are events still.
    known: Mapping[str, str] = EVENTS,
    making: ContextVar[Requests | Request | None] = current,
) -> None:
    """Hears of each event of the process, so it must be quick."""
    if event in known and (attempt := making.get()) is not None:
        attempt.hide(known[event])


def tasks(patches: Patches, module: ModuleType) -> None:
    """The module ``asyncio.base_events``."""

    def make(original: Any) -> Any:
        def create_task(self: Any, *args: Any, **kwargs: Any) -> Any:
            task = original(self, *args, **kwargs)
            attempt = current.get()
            if attempt is not None:
                context = kwargs.get("context")
                if context is not None and context.get(current) is not attempt:
                    attempt.hide("a task was begun in another context")
                attempt.job(task)
            return task

        return create_task

    def later(original: Any) -> Any:
        def call_at(*args: Any, **kwargs: Any) -> Any:
            timer = original(*args, **kwargs)
            attempt = current.get()
            if attempt is not None:
                attempt.timer(timer)
            return timer

        return call_at

    patches.replace(module.BaseEventLoop, "create_task", make)
    patches.replace(module.BaseEventLoop, "call_at", later)
    patches.replace(module.BaseEventLoop, "call_soon_threadsafe", _from_outside)
    patches.replace(module.BaseEventLoop, "shutdown_default_executor", _aside)


def _from_outside(original: Any) -> Any:
    """What a loop may do in any context, unless it only hears that a job has ended."""

    def call_soon_threadsafe(self: Any, callback: Any, *args: Any, **kwargs: Any) -> Any:
        attempt = current.get()
        settles = getattr(callback, "__module__", "") == "asyncio.futures"
        # By this a loop closes asynchronous generators that nobody holds any more.
        closes = bool(args) and type(args[0]).__name__ == "async_generator_athrow"
        if attempt is not None and not (settles or closes):
            attempt.hide("something was given to an event loop from outside of it")
        return original(self, callback, *args, **kwargs)

    return call_soon_threadsafe


def _aside(original: Any) -> Any:
    """The end of a loop, whose threads get nothing to do."""

    async def shutdown_default_executor(*args: Any, **kwargs: Any) -> Any:
        with Within(None):
            return await original(*args, **kwargs)

    return shutdown_default_executor


def starts(patches: Patches, module: ModuleType) -> None:
    """The module ``_thread``: before 3.12 there is no event for it."""
    _hiding(patches, module, ("start_new_thread",), THREAD)


def signals(patches: Patches, module: ModuleType) -> None:
    """The modules ``threading``, ``asyncio.locks`` and ``multiprocessing.synchronize``,
    by which somebody who waits is told that there is something to do. Clients and their
    loops have events and locks of their own.
    """
    if module.__name__ == "threading":
        _hiding(patches, module.Thread, ("start",), THREAD)

    def make(original: Any) -> Any:
        def tell(self: Any, *args: Any, **kwargs: Any) -> Any:
            attempt = current.get()
            if isinstance(attempt, Requests):  # what a client tells is its own affair
                caller = str(sys._getframe(1).f_globals.get("__name__"))
                if caller not in _CLIENTS and caller.partition(".")[0] not in _CLIENTS:
                    attempt.hide("others were told something that they may wait for")
            return original(self, *args, **kwargs)

        return tell

    patches.replace(module.Event, "set", make)
    patches.replace(module.Condition, "notify", make)
    if hasattr(module.Semaphore, "release"):  # a process's is in C
        patches.replace(module.Semaphore, "release", make)


_CLIENTS = {
    "aiohttp",
    "anyio",
    "asyncio",
    "concurrent",
    "httpcore",
    "httpcore2",
    "multiprocessing",
    "queue",
    "threading",
    "trio",
    "urllib3",
}


def threads(patches: Patches, module: ModuleType) -> None:
    """The module ``concurrent.futures.thread``."""

    def make(original: Any) -> Any:
        def submit(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            attempt = current.get()
            if attempt is None:
                return original(self, fn, *args, **kwargs)
            resolves = _resolves(fn)
            carried = _context(fn)
            seen = carried is not None and carried.get(current) is attempt
            if not (resolves or seen):
                return original(self, fn, *args, **kwargs)
            with Within(None):
                future = original(self, fn, *args, **kwargs)
            if seen:
                attempt.job(future)
            return future

        return submit

    patches.replace(module.ThreadPoolExecutor, "submit", make)


def _resolves(function: Any) -> bool:
    """What an event loop does on a thread of its own, and sends no request."""
    if function in (socket.getaddrinfo, socket.getnameinfo):
        return True
    loop = sys.modules.get("asyncio.base_events")
    debug = None if loop is None else loop.BaseEventLoop._getaddrinfo_debug
    return debug is not None and getattr(function, "__func__", None) is debug


def _context(function: Any) -> Context | None:
    """The context in which ``asyncio.to_thread`` lets a function run."""
    context = getattr(function.func, "__self__", None) if isinstance(function, partial) else None
    return context if isinstance(context, Context) else None


def executors(patches: Patches, module: ModuleType) -> None:
    """The module ``concurrent.futures._base``: each job has a future of it, and so
    has a coroutine that another thread's loop is to run. tenacity has one for itself.
    """

    def make(original: Any) -> Any:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            attempt = current.get()
            if attempt is not None and not type(self).__module__.startswith("tenacity"):
                attempt.hide("a job was given to another thread or process")
            original(self, *args, **kwargs)

        return __init__

    patches.replace(module.Future, "__init__", make)


def processes(patches: Patches, module: ModuleType) -> None:
    """The module ``multiprocessing.pool``."""
    names = ("apply_async", "_map_async", "imap", "imap_unordered")
    _hiding(patches, module.Pool, names, "a job was given to a pool of processes or threads")


def pipes(patches: Patches, module: ModuleType) -> None:
    """The module ``multiprocessing.connection``."""
    _hiding(
        patches, module._ConnectionBase, ("send", "send_bytes"), "something was sent to a process"
    )


def nurseries(patches: Patches, module: ModuleType) -> None:
    """The module ``trio._core._run``."""
    _hiding(patches, module.Nursery, ("start_soon", "start"), "a task was begun")


def system_tasks(patches: Patches, module: ModuleType) -> None:
    """The module ``trio.lowlevel``."""
    _hiding(patches, module, ("spawn_system_task",), "a task was begun")


def channels(patches: Patches, module: ModuleType) -> None:
    """The module ``trio._channel``."""
    _hiding(patches, module.MemorySendChannel, ("send_nowait",), _CHANNEL)


def streams(patches: Patches, module: ModuleType) -> None:
    """The module ``anyio.streams.memory``."""
    _hiding(patches, module.MemoryObjectSendStream, ("send_nowait",), _CHANNEL)


_CHANNEL = "something was sent on a channel, which others may take jobs from"


def workers(patches: Patches, module: ModuleType) -> None:
    """The module ``anyio._backends._asyncio``, whose threads run what they get on a
    queue, in its sender's context.
    """

    def make(original: Any) -> Any:
        def start(self: Any) -> Any:
            with Within(None):
                return original(self)

        return start

    patches.replace(module.WorkerThread, "start", make)


class _Carried:
    """A function that runs in the attempt's context, on another thread."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self._ended = False

    def __call__(self, *args: Any) -> Any:
        try:
            return self._function(*args)
        finally:
            self._ended = True

    def done(self) -> bool:
        return self._ended


def _carried(attempt: Requests | Request, item: Any) -> Any:
    """What is put on a queue of anyio's for a thread: seen as a job; ``None``: it is
    put on another.
    """
    worker = sys.modules.get("anyio._backends._asyncio")
    if worker is None or not (isinstance(item, tuple) and len(item) > 1):
        return None
    context, function, *rest = item
    if _putter() != worker.__name__ or not isinstance(context, Context):
        return None
    if context.get(current) is not attempt:
        return None
    job = _Carried(function)
    attempt.job(job)
    return (context, job, *rest)


def _is_pools(stack: Any) -> bool:
    return type(stack).__name__ == "LifoQueue" and "urllib3" in _putter().split(".")


def _putter() -> str:
    """The module that puts something on a queue: the caller of the method, of
    ``put_nowait`` where that calls it.
    """
    frame = sys._getframe(3)
    if frame.f_globals.get("__name__") == "queue" and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__"))


def queues(patches: Patches, module: ModuleType) -> None:
    """The modules ``queue``, ``asyncio.queues`` and ``multiprocessing.queues``. urllib3
    keeps connections on a stack, which is no queue of jobs.
    """
    name = "put_nowait" if module.__name__.startswith("asyncio") else "put"

    def make(original: Any) -> Any:
        def put(self: Any, item: Any, *args: Any, **kwargs: Any) -> Any:
            attempt = current.get()
            if attempt is not None and not _is_pools(self):
                carried = _carried(attempt, item)
                if carried is None:
                    attempt.hide("something was put on a queue, which others may take jobs from")
                else:
                    item = carried
            return original(self, item, *args, **kwargs)

        return put

    patches.replace(module.Queue, name, make)


def libraries(patches: Patches, module: ModuleType) -> None:
    """The module ``ctypes.util``, which asks a program where libraries are: a client
    that is loaded in the attempt may do so.
    """
    _no_part(patches, module, "find_library")


def machines(patches: Patches, module: ModuleType) -> None:
    """The module ``platform``, which asks a program for the processor: a client may say with
    its requests where it runs.
    """
    _no_part(patches, module, "platform")
    _no_part(patches, module, "processor")


def _no_part(patches: Patches, owner: Any, name: str) -> None:
    """What a function does is no part of the attempt."""

    def make(original: Any) -> Any:
        def aside(*args: Any, **kwargs: Any) -> Any:
            with Within(None):
                return original(*args, **kwargs)

        return aside

    patches.replace(owner, name, make)


def logs(patches: Patches, module: ModuleType) -> None:
    """The module ``logging``, whose handlers may send lines to anywhere. Those are
    not what an attempt is made for.
    """

    def make(original: Any) -> Any:
        def handle(self: Any, record: Any) -> Any:
            if current.get() is None:
                return original(self, record)
            with Within(None):
                return original(self, record)

        return handle

    patches.replace(module.Handler, "handle", make)


def _hiding(patches: Patches, owner: Any, names: tuple[str, ...], what: str) -> None:
    def make(original: Any) -> Any:
        def hiding(*args: Any, **kwargs: Any) -> Any:
            attempt = current.get()
            if attempt is not None:
                attempt.hide(what)
            return original(*args, **kwargs)

        return hiding

    for name in names:
        patches.replace(owner, name, make)
