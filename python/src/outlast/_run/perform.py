"""Carries out a call: Python drives, the plugin decides."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING, TypeVar

from .._call.errors import OutlastError
from .._call.outcome import Outcome, error_of
from .._call.result import Result
from .._evidence.requests import Within
from .._time.clock import AsyncSleep, Sleep
from .drive import Driver
from .steps import (
    Again,
    Done,
    Ended,
    LetGo,
    LoadPlugin,
    LookWhetherClosed,
    Made,
    MakeAttempt,
    MakeRepair,
    Step,
    Wait,
)
from .task import Task
from .watched_wait import WatchedWait

if TYPE_CHECKING:
    from .._call.call import Call
    from .._plugin.plugin import Plugin

Attempter = Callable[[], Result]
"""Makes one attempt. An exception that stands for a result is mapped to it; any
other ends the call."""

AsyncAttempter = Callable[[], Awaitable[Result]]
"""The same for a coroutine."""

Repairer = Callable[[bool], Result]
"""Repairs what the policy asks for, with force if it says so."""

AsyncRepairer = Callable[[bool], Awaitable[Result]]
"""The same for a coroutine."""

Perform = Callable[[Step], object]
"""Carries out a step and gives its value."""

T = TypeVar("T")


def performer(task: Task, attempt: Attempter, sleep: Sleep, repair: Repairer | None) -> Perform:
    """Carries out steps on the calling thread."""

    def perform(step: Step) -> object:
        match step:
            case MakeAttempt(within):
                with within:
                    return attempt()
            case LoadPlugin():
                task.policy.plugin.load()
                return None
            case LetGo(again):
                again.drop()
                return None
            case MakeRepair(force):
                assert repair is not None
                return repair(force)
            case LookWhetherClosed(peer, patience):
                from .._watch.closing import closes

                return closes(peer, patience)
            case WatchedWait():
                return step.wait()
        return sleep(step.seconds)

    return perform


def complete(steps: Generator[Step, Done, T], perform: Perform) -> T:
    """Carry out steps to their end, and get what they come to."""
    try:
        step = next(steps)
        while True:
            try:
                done = Done(perform(step))
            except BaseException as e:
                done = Done(error=e)
            step = steps.send(done)
    except StopIteration as end:
        value: T = end.value
        return value


def run(
    task: Task,
    attempt: Attempter,
    sleep: Sleep,
    repair: Repairer | None = None,
    again: Again | None = None,
    made: Made | None = None,
) -> Ended:
    """Carry out a task on the calling thread."""
    task = task if made else task.begun()
    driver = Driver(task, again, made)
    try:
        with Within(None):  # what is done besides the attempts is no part of one around it
            return complete(driver.steps(), performer(task, attempt, sleep, repair))
    except BaseException as e:  # such as a clock's, or Ctrl-C between two steps
        driver.error = e
        raise
    finally:
        driver.close()


async def arun(
    task: Task,
    attempt: AsyncAttempter,
    sleep: AsyncSleep,
    repair: AsyncRepairer | None = None,
    again: Again | None = None,
    made: Made | None = None,
) -> Ended:
    """Carry out a task in the calling task of an event loop. Thousands may wait here,
    so there is little that they hold.
    """
    task = task if made else task.begun()
    driver = Driver(task, again, made)
    steps = driver.steps()
    try:
        with Within(None):
            step = next(steps)
            while True:
                try:
                    match step:
                        case MakeAttempt(within):
                            with within:
                                value: object = await attempt()
                        case Wait(seconds):
                            value = await sleep(seconds)
                        case WatchedWait():
                            value = await step.await_()
                        case _:
                            value = await aperform(step, task, repair)
                    done = Done(value)
                except GeneratorExit:
                    raise
                except BaseException as e:
                    done = Done(error=e)
                step = steps.send(done)
    except StopIteration as end:
        ended: Ended = end.value
        return ended
    except BaseException as e:
        driver.error = e
        raise
    finally:
        driver.close()


async def aperform(step: Step, task: Task, repair: AsyncRepairer | None) -> object:
    """What is done seldom."""
    from .._time.event_loop import in_thread

    match step:
        case LetGo(again):
            await again.drop()
        case LoadPlugin():
            await _loaded(task.policy.plugin)
        case LookWhetherClosed(peer, patience):
            from .._watch.closing import closes

            closed: list[bool] = []
            await in_thread(lambda: closed.append(closes(peer, patience)))
            return closed[0]
        case MakeRepair(force):
            assert repair is not None
            return await repair(force)
    return None


async def _loaded(plugin: Plugin) -> None:
    """Load the plugin. That takes seconds, for which the event loop must go on; thousands of
    tasks may wait for it, so none of them has a thread.
    """
    from .._time.event_loop import Signal

    loading = plugin.loading()
    if loading is not None:
        over = Signal()
        loading.tell(over.set)
        await over.wait()
        loading.wait()  # for no time: it raises what went wrong


def finish(ended: Ended, call: Call, check: bool) -> Outcome:
    """What a driver gives to its caller: an outcome, or an exception."""
    error = ended.error
    if isinstance(error, OutlastError) and ended.raised is not None:
        raise error from ended.raised
    if error is not None:
        raise error
    assert ended.outcome is not None
    if check and not ended.outcome.ok:
        raise error_of(ended.outcome, call.label) from ended.raised
    return ended.outcome
