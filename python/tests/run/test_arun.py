"""What only coroutines have: tasks, cancelling, and an event loop that goes on."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
import trio

import outlast
from conftest import REFUSED
from fakes import Failing
from outlast import Call, Policy, Result
from outlast import events as e
from outlast._plugin.engine import Engine
from outlast._time.event_loop import Signal
from outlast.testing import VirtualClock

READ = Call(remote=True, write=False)
WRITE = Call(remote=True, write=True)
AWAY = Result(exit_code=1, stderr=REFUSED)
OK = Result(exit_code=0)


def loads_for(seconds: float, monkeypatch: pytest.MonkeyPatch) -> Failing:
    """A plugin that is loaded slowly."""
    compile_ = Engine.compile

    def slow(engine: Engine) -> None:
        time.sleep(seconds)
        compile_(engine)

    monkeypatch.setattr(Engine, "compile", slow)
    return Failing()


async def away() -> Result:
    return AWAY


async def forever() -> Result:
    await asyncio.sleep(3600)
    return OK


async def cancelled(task: asyncio.Task[Any]) -> float:
    """How long a task takes to end that is cancelled."""
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return time.monotonic() - began


def test_a_task_is_cancelled_in_a_wait(events: list[e.Event]) -> None:
    async def main() -> None:
        task = asyncio.create_task(Policy("omnigraph").arun(away, WRITE))
        while not any(isinstance(event, e.Waiting) for event in events):
            await asyncio.sleep(0.01)
        await cancelled(task)

    asyncio.run(main())
    last = events[-1]
    assert isinstance(last, e.Stopped)
    assert (last.outcome.type, last.outcome.effects, last.outcome.attempts) == (
        "cancelled",
        "none",
        1,
    )


def test_a_task_is_cancelled_in_an_attempt(events: list[e.Event]) -> None:
    async def main() -> None:
        task = asyncio.create_task(Policy("omnigraph").arun(forever, WRITE))
        await asyncio.sleep(0.05)
        await cancelled(task)

    asyncio.run(main())
    last = events[-1]
    assert isinstance(last, e.Stopped)
    assert (last.outcome.type, last.outcome.effects) == ("cancelled", "unknown")


def test_a_task_is_cancelled_while_the_plugin_loads(
    events: list[e.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = loads_for(0.5, monkeypatch)

    async def main() -> float:
        task = asyncio.create_task(Policy("omnigraph", plugin=plugin).arun(away, READ))
        await asyncio.sleep(0.1)
        return await cancelled(task)

    assert asyncio.run(main()) < 0.4
    last = events[-1]
    assert isinstance(last, e.Stopped)
    assert last.outcome.type == "cancelled"


@pytest.mark.parametrize("turns", range(4))
def test_a_cancelling_that_comes_with_the_servers_return_is_not_lost(turns: int) -> None:
    """However many turns of the event loop lie between the two."""

    async def main() -> None:
        signal = Signal()
        task = asyncio.create_task(signal.wait(3600))
        await asyncio.sleep(0.01)
        signal.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        if not task.done():
            await cancelled(task)

    asyncio.run(main())


@pytest.mark.parametrize("seconds", [0.01, 3600.0])
def test_a_signal_is_waited_for_so_long(seconds: float) -> None:
    async def main() -> float:
        signal = Signal()
        if seconds > 1:
            threading.Timer(0.05, signal.set).start()
        began = time.monotonic()
        await signal.wait(seconds)
        return time.monotonic() - began

    assert 0.009 < asyncio.run(main()) < 10
    assert 0.009 < trio.run(main) < 10


def test_a_time_limit_of_asyncio(clock: VirtualClock) -> None:
    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(Policy("omnigraph").arun(forever, READ), 0.05)

    asyncio.run(main())


def test_trio_cancels(events: list[e.Event]) -> None:
    async def main() -> None:
        with trio.move_on_after(0.3) as scope:
            await Policy("omnigraph").arun(away, READ)
        assert scope.cancelled_caught

    trio.run(main)
    last = events[-1]
    assert isinstance(last, e.Stopped)
    assert last.outcome.type == "cancelled"


def test_the_event_loop_goes_on_while_the_plugin_loads(
    events: list[e.Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = loads_for(0.3, monkeypatch)

    async def main() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        call = asyncio.create_task(Policy("omnigraph", plugin=plugin).arun(away, READ))
        while not any(isinstance(event, e.Waiting) for event in events):
            await asyncio.sleep(0.01)
        for task in (ticking, call):
            await cancelled(task)
        return ticks

    assert asyncio.run(main()) >= 5


def test_tasks_that_wait_for_the_plugin_have_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = Policy("omnigraph", plugin=loads_for(0.2, monkeypatch))
    before, most = threading.active_count(), 0

    async def main() -> None:
        nonlocal most
        tasks = [asyncio.create_task(policy.arun(away, READ)) for _ in range(50)]
        await asyncio.sleep(0.1)
        most = threading.active_count()
        await asyncio.sleep(0.5)
        assert policy.plugin.loaded
        for task in tasks:
            await cancelled(task)

    asyncio.run(main())
    assert most - before <= 1


def test_two_hundred_tasks_at_once(events: list[e.Event]) -> None:
    plugin = Failing()
    back = [0.0]

    async def attempt() -> Result:
        await asyncio.sleep(0.001)
        return OK if time.monotonic() >= back[0] else AWAY

    async def main() -> list[outlast.Outcome]:
        policy = Policy("omnigraph", plugin=plugin)
        back[0] = time.monotonic() + 2.0
        return await asyncio.gather(*(policy.arun(attempt, READ) for _ in range(200)))

    outcomes = asyncio.run(main())
    assert [o.type for o in outcomes] == ["ok"] * 200
    assert all(3 <= o.attempts <= 6 for o in outcomes)
    assert plugin.started == 1
    assert len({o.elapsed for o in outcomes}) > 150  # jitter spreads them


def test_nothing_is_left_of_a_call(clock: VirtualClock) -> None:
    async def main() -> None:
        await Policy("omnigraph").arun(away, READ)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


@pytest.mark.parametrize(
    ("sent", "write", "effects"),
    [("no", True, "none"), ("unknown", True, "unknown"), ("unknown", False, "none")],
)
def test_a_task_is_cancelled_while_the_plugin_is_loaded(
    monkeypatch: pytest.MonkeyPatch, events: list[e.Event], sent: Any, write: bool, effects: str
) -> None:
    """What is told of its attempt, which no policy has judged, is what was seen of it."""
    loading, loaded = threading.Event(), threading.Event()

    def load(self: Engine) -> None:
        loading.set()
        loaded.wait(10)
        raise outlast.PluginError("loading the plugin", "too late")

    monkeypatch.setattr(Engine, "compile", load)
    plugin = outlast.Plugin()
    plugin._compiled = {}  # what was loaded before is there still
    policy = Policy(plugin=plugin)

    async def fails() -> Result:
        return Result(failure="unconnected", sent=sent)

    async def main() -> None:
        task = asyncio.create_task(policy.arun(fails, Call(remote=True, write=write)))
        while not loading.is_set() and not task.done():
            await asyncio.sleep(0.01)
        await cancelled(task)
        loaded.set()

    asyncio.run(main())
    last = events[-1]
    assert isinstance(last, e.Stopped)
    told = (last.outcome.type, last.outcome.effects, last.outcome.attempts)
    assert told == ("cancelled", effects, 1)
