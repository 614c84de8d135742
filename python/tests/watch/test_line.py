"""Whose turn it is of those who wait for a server."""

from __future__ import annotations

import time

from outlast._watch.line import Callers
from outlast._watch.target import Level
from outlast._watch.waiter import Waiter
from outlast._watch.window import LEASE


def line_of(*remote: bool) -> tuple[Callers, list[Waiter]]:
    """A line before a server that has just come back."""
    line, waiters = Callers(), []
    line.anew(True)
    for each in remote:
        waiter = Waiter(True, lambda _: None, 0, remote=each)
        line.enter(waiter)
        waiter.saw(1, Level.DOWN)
        waiter.rise(Level.ACCEPTING)
        waiters.append(waiter)
    return line, waiters


def answered(line: Callers, waiter: Waiter) -> None:
    line.leave(waiter)
    line.window.went(waiter, "answered", time.monotonic())


def test_a_followers_call_has_one_turn_each_time_that_it_waits() -> None:
    """It goes, or says that it waits, also where the server is readier by then."""
    line, (own, follower) = line_of(False, True)
    line.window.size = 2
    assert line.deal() == [follower, own]
    for waiter in (own, follower):
        waiter.rise(Level.HEALTHY)
    assert line.deal() == [own]


def test_those_who_came_first_go_first_and_the_own_last_call_last() -> None:
    line, (own, follower, last_own, last_follower) = line_of(False, True, False, True)
    for turn in (own, follower, last_follower, last_own):
        line.window.size = 1
        assert line.deal() == [turn]
        answered(line, turn)


def test_a_process_that_was_stopped_gives_one_turn() -> None:
    line, waiters = line_of(*[True] * 8)
    line.window.size = 8
    line._dealt -= LEASE + 1
    assert line.deal() == waiters[:1]
    answered(line, waiters[0])
    assert line.deal() == waiters[1:3]
