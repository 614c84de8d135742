"""Health checks that are not there, not for outlast, or answered 503."""

from __future__ import annotations

import time

import pytest

import outlast
from outlast import events as e
from outlast._watch import watcher
from outlast._watch.readiness import Seen
from outlast._watch.target import Level, parse, parse_omnigraph
from outlast.ready import Omnigraph, Server

from .test_ready import (
    AWAY,
    DRIVERS,
    OK,
    READ,
    Drive,
    Eyes,
    Health,
    eventually,
    free_port,
    nothing,
    policy,
)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_check_that_is_denied_is_not_asked_again(status: int) -> None:
    """Until the server has gone away. Till then its port is looked at."""
    port = free_port()
    watch = Server(f"http://127.0.0.1:{port}").watch(True, nothing)
    try:
        eventually(lambda: watch.seen() == Seen(down=True))
        with Health(port, status) as server:
            eventually(lambda: watch.seen().rose == "accepting")
            eventually(lambda: f"is answered {status}" in watch.seen().why)
            asked = len(server.asked)  # others may have been under way
            time.sleep(10 * watcher.SHORTEST)
            assert len(server.asked) == asked <= watcher.IN_FLIGHT
        eventually(lambda: watch.seen() == Seen(down=True))
        with Health(port):
            eventually(lambda: watch.seen() == Seen("ready"))
    finally:
        watch.stop()


@pytest.mark.parametrize(("status", "ends"), [(401, True), (404, False)])
def test_what_ends_the_looks_at_omnigraph(status: int, ends: bool) -> None:
    """A 404 is a proxy's whose route is away: a command at a wrong path does not wait."""
    port = free_port()
    watch = Omnigraph(f"http://127.0.0.1:{port}").watch(True, nothing)
    try:
        eventually(lambda: watch.seen().down)
        with Health(port, status) as server:
            if ends:
                eventually(lambda: watch.seen().why != "")
            else:
                eventually(lambda: len(server.asked) > 12)
                assert watch.seen().why == ""
    finally:
        watch.stop()


def test_looks_at_a_busy_server_slow_down() -> None:
    """Anew, from the first 503 on, to one in 150 ms and no further."""
    look = watcher.Watcher(parse_omnigraph("http://graph"))
    look.line.enter(watcher.View(look, True, nothing, 0))
    now = time.monotonic()
    assert look._pause(60.0) == pytest.approx(0.1)
    look._looked(1, now, Level.LOADING, 503)
    look._flying = 0
    assert look._pause(60.0) == watcher.SHORTEST
    for busy, pause in ((60, 0.1), (3600, watcher.LONGEST)):
        look._busy = now - busy
        assert look._pause(3600.0) == pytest.approx(pause, rel=0.1)
    look._looked(2, now, Level.DOWN, 0)
    assert look._busy is None


def test_what_a_target_denies() -> None:
    plain, omnigraph = parse("http://graph"), parse_omnigraph("http://graph")
    denied = {status for status in range(200, 600) if plain.denies(status)}
    assert denied == {401, 403, 404}
    assert denied - {404} == {status for status in range(200, 600) if omnigraph.denies(status)}


@pytest.mark.parametrize("drive", DRIVERS)
def test_less_than_was_asked_for_is_told_once(drive: Drive, events: list[e.Event]) -> None:
    results = iter([AWAY, AWAY, OK])
    outcome: outlast.Outcome = drive(
        policy("10ms"), lambda: next(results), READ, ready=Eyes(Seen(why="it is answered 404"))
    )
    assert outcome.ok
    told = [event.why for event in events if isinstance(event, e.Unwatched)]
    assert told == ["it is answered 404"]
