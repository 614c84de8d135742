"""A call as a loop over its attempts."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import httpx
import pytest

import outlast
from evidence.servers import closed_port, closes, serving
from outlast import events as e
from outlast.hooks import CallHook, PerCallHook
from outlast.testing import VirtualClock, no_retries


class Fails:
    """Fails so many times, then gives a value."""

    def __init__(self, times: int, error: Exception | None = None) -> None:
        self.left = times
        self.error = error or ConnectionRefusedError(111, "Connection refused")

    def __call__(self) -> str:
        self.left -= 1
        if self.left >= 0:
            raise self.error
        return "answer"


def looped(what: Fails, **options: Any) -> tuple[str, list[int]]:
    numbers: list[int] = []
    value = ""
    for attempt in outlast.attempts(**{"remote": True, "write": False, **options}):
        with attempt:
            numbers.append(attempt.number)
            value = what()
    return value, numbers


def looped_in_a_task(what: Fails, **options: Any) -> tuple[str, list[int]]:
    async def main() -> tuple[str, list[int]]:
        numbers: list[int] = []
        value = ""
        async for attempt in outlast.attempts(**{"remote": True, "write": False, **options}):
            with attempt:
                numbers.append(attempt.number)
                value = what()
        return value, numbers

    return asyncio.run(main())


both = pytest.mark.parametrize("loop", [looped, looped_in_a_task])


@both
def test_it_goes_on_until_a_body_ends_well(
    loop: Any, clock: VirtualClock, events: list[e.Event]
) -> None:
    assert loop(Fails(3)) == ("answer", [1, 2, 3, 4])
    assert len(clock.slept) == 3
    assert isinstance(events[-1], e.Stopped)
    assert events[-1].outcome.type == "ok"
    assert loop(Fails(0)) == ("answer", [1])


@both
@pytest.mark.parametrize("reraise", [False, True])
def test_the_policy_ends_it(loop: Any, reraise: bool, clock: VirtualClock) -> None:
    fails = Fails(1000)
    with pytest.raises(ConnectionRefusedError if reraise else outlast.Exhausted) as raised:
        loop(fails, budget=5, reraise=reraise)
    assert clock.now() == pytest.approx(5.0)
    outcome = outlast.outcome_of(raised.value)
    assert outcome is not None
    assert outcome.reason == "call"
    assert (raised.value if reraise else raised.value.__cause__) is fails.error


@both
def test_what_is_no_failure_of_a_request_comes_out(loop: Any, clock: VirtualClock) -> None:
    error = KeyError("of the program's own")
    with pytest.raises(KeyError) as raised:
        loop(Fails(1, error))
    assert raised.value is error
    assert clock.slept == []


@both
def test_what_counts_as_a_server_that_is_away(loop: Any, clock: VirtualClock) -> None:
    assert loop(Fails(2, KeyError()), on=KeyError) == ("answer", [1, 2, 3])
    with pytest.raises(ValueError, match="on= is for reads"):
        loop(Fails(0), write=True, on=KeyError)


@both
def test_a_number_of_attempts(loop: Any, clock: VirtualClock) -> None:
    with pytest.raises(outlast.Exhausted, match="gave up after 2 attempts over .* caller allows$"):
        loop(Fails(9), attempts=2)
    with no_retries(), pytest.raises(outlast.Exhausted, match="after 1 attempt over"):
        loop(Fails(9))
    with outlast.options(attempts=3), pytest.raises(outlast.Exhausted, match="after 3 attempts"):
        loop(Fails(9))


def test_a_body_that_is_no_attempt(clock: VirtualClock) -> None:
    with pytest.raises(RuntimeError, match="must be in `with attempt:`"):
        for _ in outlast.attempts(remote=True, write=False):
            pass


def test_leaving_the_loop_from_a_body_is_its_end(
    clock: VirtualClock, events: list[e.Event]
) -> None:
    for attempt in outlast.attempts(remote=True, write=False):
        with attempt:
            break
    assert [type(event) for event in events] == [e.AttemptEnded, e.Stopped]


def left(**options: Any) -> None:
    for attempt in outlast.attempts(remote=True, write=False, **options):
        with attempt:
            raise ConnectionRefusedError(111, "Connection refused")
        break


def left_in_a_task(**options: Any) -> None:
    async def main() -> None:
        async for attempt in outlast.attempts(remote=True, write=False, **options):
            with attempt:
                raise ConnectionRefusedError(111, "Connection refused")
            break

    asyncio.run(main())


@pytest.mark.parametrize("leave", [left, left_in_a_task])
def test_leaving_the_loop_after_a_failure_is_its_end(leave: Any, clock: VirtualClock) -> None:
    """Nobody waits for it any longer: a log would take later calls for more of one outage."""
    ends: list[Any] = []

    class Hook(PerCallHook):
        def begin(self, *_: Any) -> CallHook:
            return Told()

    class Told(CallHook):
        def __call__(self, event: e.Event) -> None:
            pass

        def end(self, error: BaseException | None) -> None:
            ends.append(type(error))

    leave(observe=Hook())
    assert ends == [GeneratorExit]


def test_an_attempt_is_made_once(clock: VirtualClock) -> None:
    for attempt in outlast.attempts(remote=True, write=True):
        with attempt:
            pass
        with pytest.raises(RuntimeError, match="an attempt is made once"):
            attempt.__enter__()


def test_such_a_loop_can_be_run_again(clock: VirtualClock) -> None:
    attempts = outlast.attempts(remote=True, write=False, attempts=1)
    for _ in range(2):
        for attempt in attempts:
            with attempt:
                assert attempt.number == 1


def test_an_option_that_is_none() -> None:
    with pytest.raises(TypeError, match="retries"):
        outlast.attempts(remote=True, write=False, retries=3)  # type: ignore[call-arg]


def test_what_a_body_sends_is_seen(clock: VirtualClock) -> None:
    """A write that found no connection is made again, one that was sent is not."""
    port = closed_port()
    made: list[int] = []
    for attempt in outlast.attempts(remote=True, write=True):
        with attempt:
            made.append(attempt.number)
            if attempt.number == 3:
                break
            httpx.post(f"http://127.0.0.1:{port}/", content=b"x", trust_env=False)
    assert made == [1, 2, 3]

    def post(url: str) -> None:
        for attempt in outlast.attempts(remote=True, write=True):
            with attempt:
                httpx.post(url, content=b"x", trust_env=False)

    with serving(closes) as server, pytest.raises(outlast.Indeterminate, match="had left"):
        post(server.url)
    assert server.applied == 1


def test_what_comes_between_attempts_is_no_evidence_against_them(clock: VirtualClock) -> None:
    """A body of the loop may send on a socket of its own after the attempt."""
    port, (left, right) = closed_port(), socket.socketpair()
    with left, right:
        for attempt in outlast.attempts(remote=True, write=True):
            with attempt:
                if attempt.number == 2:
                    break
                httpx.post(f"http://127.0.0.1:{port}/", content=b"x", trust_env=False)
            left.send(b"told")


def test_a_task_that_is_cancelled_in_a_body(events: list[e.Event]) -> None:
    async def main() -> None:
        async def ask() -> None:
            async for attempt in outlast.attempts(remote=True, write=True):
                with attempt:
                    await asyncio.sleep(3600)

        task = asyncio.create_task(ask())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    (stopped,) = events
    assert isinstance(stopped, e.Stopped)
    assert (stopped.outcome.type, stopped.outcome.effects) == ("cancelled", "unknown")
