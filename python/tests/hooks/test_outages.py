"""The log of many calls in one outage."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any

import pytest
import structlog

from conftest import REFUSED
from outlast import Call, Cancelled, Policy, Result, hooks
from outlast import events as e
from outlast._call.outcome import Outcome
from outlast.hooks._lines import Line
from outlast.hooks._outages import LogHook
from outlast.testing import VirtualClock

READ = Call(remote=True, write=False)
AWAY = Result(exit_code=1, stderr=REFUSED)


class Lines(LogHook):
    """Keeps what it writes, on a clock that the test moves."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.time = 0.0
        super().__init__(lambda: self.time)

    def write(self, line: Line) -> None:
        self.lines.append(line)

    def taken(self) -> list[str]:
        """The messages since the last look."""
        texts = [line.message for line in self.lines]
        self.lines.clear()
        return texts


def waiting(kind: str = "unavailable", *, again: bool = False) -> e.Event:
    given: dict[str, Any] = {"kind": kind, "budget": "b", "attempt": 2, "delay": 1.0}
    given["again"] = again
    return e.Waiting(call=READ, policy="p", remaining=None, at=0.0, **given)


def stopped(how: Any) -> e.Event:
    outcome = Outcome(how, attempts=2, message=f"it is {how}")
    return e.Stopped(call=READ, policy="p", outcome=outcome, at=0.0)


FIRST = "unavailable; attempt 2 in 1.00 s"


def test_an_attempt_that_is_left_out_is_told_once_and_what_follows_says_still() -> None:
    hook = Lines()
    first, other = hook.begin(READ, "p", ""), hook.begin(READ, "p", "")
    down, loading = (
        e.LeftOut(call=READ, policy="p", at=0.0, not_ready=not_ready) for not_ready in (False, True)
    )
    still = waiting(again=True)
    for call in (first, other):
        for event in (waiting(), down, still, down, still, loading):
            call(event)
    due = "or when one is due all the same"
    assert hook.taken() == [
        FIRST,
        f"the server is seen to be down: the next attempt is made when it is back, {due}",
        f"still {FIRST}",
        f"still {FIRST}",
        f"the server is there, and not ready yet: the next attempt is made when it is ready, {due}",
    ]


def test_the_first_call_has_its_lines_and_the_others_are_counted() -> None:
    hook = Lines()
    first, *others = (hook.begin(READ, "p", "") for _ in range(4))
    for call in (first, *others, first, *others):
        call(waiting())
    assert hook.taken() == [FIRST, FIRST]
    hook.time = 6.0
    others[0](waiting())
    others[1](waiting())
    assert hook.taken() == ["3 more calls have waited, 3 of them still do"]
    for call, how in zip((first, *others), ("ok", "ok", "exhausted", "cancelled"), strict=True):
        call(stopped(how))
        call.end(None)
    # The first call's own, that of the one which needs a person, and that of all.
    all_of_them = "3 more calls waited; 1 cancelled, 1 exhausted, 1 ok"
    assert [line.fields.get("calls") for line in hook.lines] == [None, None, 3]
    assert hook.taken() == ["it is ok", "it is exhausted", all_of_them]
    hook.begin(READ, "p", "")(waiting())
    assert hook.taken() == [FIRST]  # the next outage


def test_a_call_alone_has_no_line_on_all() -> None:
    hook = Lines()
    call = hook.begin(READ, "p", "")
    call(waiting())
    call(waiting("loading"))
    call(stopped("indeterminate"))
    assert hook.taken()[2:] == ["it is indeterminate"]


def test_policies_and_kinds_are_told_apart() -> None:
    hook = Lines()
    for kind in ("unavailable", "busy"):
        hook.begin(READ, "p", "")(waiting(kind))
    assert hook.taken() == [FIRST, "busy; attempt 2 in 1.00 s"]


def test_a_call_that_has_no_outcome_is_no_longer_waited_for() -> None:
    hook = Lines()
    calls = [hook.begin(READ, "p", "") for _ in range(2)]
    for call in calls:
        call(waiting())
    calls[0].end(None)
    calls[1].end(ZeroDivisionError())
    text = "1 more calls waited; 1 ZeroDivisionError"
    assert hook.taken() == [FIRST, text]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_does_not_wait_for_its_parents_calls() -> None:
    hook = Lines()
    hook.begin(READ, "p", "")(waiting())
    hook.taken()
    child = os.fork()
    if child == 0:
        hook.begin(READ, "p", "")(waiting())
        os._exit(hook.taken() == [FIRST])
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


async def ride_out(calls: int) -> None:
    """So many calls in one outage."""

    async def call(number: int) -> None:
        results = [AWAY, AWAY, AWAY, Result(exit_code=0)]

        async def attempt() -> Result:
            return results.pop(0)

        clock = VirtualClock()  # of its own: they wait at the same time
        policy = Policy("omnigraph")
        await policy.arun(attempt, READ, seed=number, clock=clock.now, sleep=clock.asleep)

    await asyncio.gather(*map(call, range(calls)))


def test_three_hundred_calls_in_one_outage(caplog: pytest.LogCaptureFixture) -> None:
    hooks.set_hooks([hooks.LoggingHook()])
    caplog.set_level(logging.INFO, "outlast")
    try:
        asyncio.run(ride_out(300))
    finally:
        hooks.set_hooks(None)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) <= 12, lines
    assert lines[-1] == "299 more calls waited; 299 ok"
    assert caplog.records[-1].__dict__["outlast"]["outcomes"] == {"ok": 299}


def test_structlog_counts_them_too() -> None:
    hooks.set_hooks([hooks.StructlogHook()])
    try:
        with structlog.testing.capture_logs() as lines:
            asyncio.run(ride_out(20))
    finally:
        hooks.set_hooks(None)
    assert lines[-1]["event"] == "outlast: 19 more calls waited; 19 ok"
    assert len(lines) <= 12


def test_calls_that_are_cancelled_have_one_line() -> None:
    hook = Lines()

    async def cancel() -> None:
        async def attempt() -> Result:
            return AWAY

        tasks = [
            asyncio.create_task(Policy("omnigraph").arun(attempt, READ, observe=hook, seed=number))
            for number in range(50)
        ]
        await asyncio.sleep(0.2)
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert not any(isinstance(end, (Result, Cancelled)) for end in ends)

    hooks.set_hooks(())
    try:
        asyncio.run(cancel())
    finally:
        hooks.set_hooks(None)
    assert hook.taken()[-1] == "49 more calls waited; 49 cancelled"
