"""What programs test themselves with."""

from __future__ import annotations

import asyncio
import threading

import pytest

import outlast
from outlast._time import clock as clocks
from outlast.testing import VirtualClock, virtual_time


def test_the_clock_moves_only_when_it_is_slept_on() -> None:
    clock = VirtualClock(5.0)
    assert clock.now() == 5.0
    clock.sleep(1.5)
    asyncio.run(clock.asleep(0.5))
    clock.advance(-2.0)
    assert clock.now() == 5.0
    assert clock.slept == [1.5, 0.5]


def test_time_is_virtual_for_a_while_and_on_every_thread() -> None:
    real = clocks.current()
    with virtual_time() as outer:
        with virtual_time(100.0) as inner:
            assert clocks.now() == 100.0
        assert clocks.current() is outer
        thread = threading.Thread(target=lambda: clocks.current().sleep(7.0))
        thread.start()
        thread.join()
        assert outer.now() == 7.0
    assert clocks.current() is real
    assert inner.slept == []
    with pytest.raises(ZeroDivisionError), virtual_time():
        raise ZeroDivisionError
    assert clocks.current() is real


def test_a_program_is_tested_with_it() -> None:
    calls = []

    @outlast.retry(remote=True, write=False)
    def fetch() -> str:
        calls.append(1)
        if len(calls) < 3:
            raise ConnectionRefusedError
        return "answer"

    with virtual_time() as clock:
        assert fetch() == "answer"
    assert 1.5 <= clock.now() <= 1.65
    assert len(clock.slept) == 2
