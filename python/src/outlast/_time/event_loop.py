"""The event loop that an asynchronous call runs in: asyncio, or trio by anyio."""

from __future__ import annotations

import asyncio
import math
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import trio

T = TypeVar("T")


def sleep(seconds: float) -> Awaitable[None]:
    """Wait without holding up the event loop."""
    if _in_trio():
        import anyio

        return anyio.sleep(seconds)
    return asyncio.sleep(seconds)


async def within(seconds: float, what: Awaitable[T]) -> T:
    """What something awaited gives, if it does so in time; else it is cancelled.

    Raises:
        TimeoutError: If it does not; before Python 3.11 asyncio has one of its own.
    """
    if _in_trio():
        import anyio

        with anyio.fail_after(seconds):
            return await what
    if not hasattr(asyncio, "timeout"):
        return await asyncio.wait_for(what, seconds)
    async with asyncio.timeout(seconds):
        return await what


class Signal:
    """Wakes a task of the current event loop from any thread."""

    def __init__(self) -> None:
        if _in_trio():
            import trio

            event = trio.Event()
            self._event: asyncio.Event | trio.Event = event
            self._soon: Callable[[Callable[[], None]], object] = (
                trio.lowlevel.current_trio_token().run_sync_soon
            )
        else:
            self._event = asyncio.Event()
            self._soon = asyncio.get_running_loop().call_soon_threadsafe

    def set(self) -> None:
        """Wake it. A loop that has ended needs no waking."""
        with suppress(RuntimeError):
            self._soon(lambda: self._event.set() and None)

    def clear(self) -> None:
        """Forget what was set, on the task's own thread."""
        if isinstance(self._event, asyncio.Event):
            self._event.clear()
        else:
            self._event = type(self._event)()

    async def wait(self, seconds: float = math.inf) -> None:
        """Wait until it is set, or for so many seconds."""
        if isinstance(self._event, asyncio.Event):
            await _set(self._event, seconds)
            return
        import trio

        with trio.move_on_after(seconds):
            await self._event.wait()


async def _set(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, which is set when the time is over. ``asyncio.wait_for`` loses a
    cancelling that comes together with it, before Python 3.12.
    """
    if seconds == math.inf:
        await event.wait()
        return
    timer = asyncio.get_running_loop().call_later(seconds, event.set)
    try:
        await event.wait()
    finally:
        timer.cancel()


async def in_thread(function: Callable[[], None]) -> None:
    """Run a function on a thread. A task that is cancelled does not wait for it,
    and neither does the end of the event loop or of the process.
    """
    if _in_trio():
        import anyio.to_thread

        await anyio.to_thread.run_sync(function, abandon_on_cancel=True)
        return
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def settle(error: Exception | None) -> None:
        if future.done():  # the task was cancelled
            return
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)

    def work() -> None:
        error = None
        try:
            function()
        except Exception as e:
            error = e
        try:
            loop.call_soon_threadsafe(settle, error)
        except RuntimeError:  # the loop has been closed meanwhile
            return

    threading.Thread(target=work, name="outlast-aside", daemon=True).start()
    await future


def _in_trio() -> bool:
    """Whether the current task is trio's. Without trio loaded it cannot be."""
    if "trio" not in sys.modules:
        return False
    import sniffio

    try:
        return sniffio.current_async_library() == "trio"
    except sniffio.AsyncLibraryNotFoundError:
        return False
