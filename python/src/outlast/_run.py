"""Carries out a call: Python drives, the plugin decides."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import TypeVar

from ._clock import AsyncSleep, Sleep
from ._drive import Attempt, Done, Ended, Load, Repair, Step, drive
from ._lookout import LookOut
from ._result import Result
from ._task import Task

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
            case Attempt():
                return attempt()
            case Load():
                task.policy.plugin.load()
                return None
            case Repair(force):
                assert repair is not None
                return repair(force)
            case LookOut():
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


def run(task: Task, attempt: Attempter, sleep: Sleep, repair: Repairer | None) -> Ended:
    """Carry out a task on the calling thread."""
    return complete(drive(task), performer(task, attempt, sleep, repair))


async def arun(
    task: Task, attempt: AsyncAttempter, sleep: AsyncSleep, repair: AsyncRepairer | None
) -> Ended:
    """Carry out a task in the calling task of an event loop."""
    steps = drive(task)
    try:
        step = next(steps)
        while True:
            try:
                done = Done(await _perform(step, task, attempt, sleep, repair))
            except GeneratorExit:
                raise
            except BaseException as e:
                done = Done(error=e)
            step = steps.send(done)
    except StopIteration as end:
        ended: Ended = end.value
        return ended


async def _perform(
    step: Step,
    task: Task,
    attempt: AsyncAttempter,
    sleep: AsyncSleep,
    repair: AsyncRepairer | None,
) -> object:
    match step:
        case Attempt():
            return await attempt()
        case Load():
            from ._backend import in_thread

            # Compiling takes seconds, and the event loop must go on.
            await in_thread(task.policy.plugin.load)
            return None
        case Repair(force):
            assert repair is not None
            return await repair(force)
        case LookOut():
            return await step.await_()
    return await sleep(step.seconds)
