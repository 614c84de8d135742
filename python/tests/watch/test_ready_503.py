"""Health checks that are answered 503: the server is there, and not ready yet."""

from __future__ import annotations

import threading
import time

import pytest

from outlast import Call, Result
from outlast import events as e
from outlast._watch.readiness import Seen
from outlast.ready import Server

from .test_ready import (
    AWAY,
    DRIVERS,
    LONG,
    OK,
    READ,
    WRITE,
    Drive,
    Health,
    eventually,
    free_port,
    policy,
)


def test_it_wakes_nobody_and_is_asked_on() -> None:
    port = free_port()
    news: list[Seen] = []
    watch = Server(f"http://127.0.0.1:{port}").watch(True, lambda: news.append(watch.seen()))
    try:
        eventually(lambda: watch.seen() == Seen(down=True))
        with Health(port, 503) as server:
            eventually(lambda: watch.seen() == Seen(not_ready=True))
            eventually(lambda: len(server.asked) > 6)
            assert watch.seen() == Seen(not_ready=True)
            assert news == []
            server.status = 200
            eventually(lambda: watch.seen() == Seen("ready"))
            assert news
    finally:
        watch.stop()


@pytest.mark.parametrize("call", [READ, WRITE], ids=["read", "write"])
@pytest.mark.parametrize("drive", DRIVERS)
def test_nobody_goes_on_before_it_is_good(drive: Drive, call: Call, events: list[e.Event]) -> None:
    port = free_port()
    good = threading.Event()
    at: list[bool] = []

    def attempt() -> Result:
        at.append(good.is_set())
        return OK if len(at) > 1 else AWAY

    def serve() -> None:
        eventually(lambda: any(isinstance(event, e.Waiting) for event in events))
        time.sleep(0.2)
        with Health(port, 503) as server:
            eventually(lambda: len(server.asked) > 6)
            good.set()
            server.status = 200
            ended.wait(LONG)

    ended = threading.Event()
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        outcome = drive(policy("60s"), attempt, call, ready=Server(f"http://127.0.0.1:{port}"))
    finally:
        ended.set()
        thread.join()
    assert outcome.ok
    assert at == [False, True]
    assert sum(isinstance(event, e.Woken) for event in events) == 1


@pytest.mark.parametrize("call", [READ, WRITE], ids=["read", "write"])
@pytest.mark.parametrize("drive", DRIVERS)
def test_one_that_is_never_good_delays_by_a_cap(
    drive: Drive, call: Call, events: list[e.Event]
) -> None:
    """The work may succeed all the same."""
    port = free_port()
    starts: list[float] = []

    def attempt() -> Result:
        starts.append(time.monotonic())
        told = any(isinstance(event, e.LeftOut) and event.not_ready for event in events)
        return OK if told else AWAY

    with Health(port, 503):
        outcome = drive(
            policy("100ms", "30s", "1s"), attempt, call, ready=Server(f"http://127.0.0.1:{port}")
        )
    assert outcome.ok
    assert starts[-1] - starts[-2] < LONG
