"""What is kept of an attempt's requests, and how much of it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sized
from typing import Any

import pytest

from outlast._evidence import places, watch
from outlast._evidence.patches import Patches
from outlast._evidence.requests import MOST_KEPT, Requests


class Over:
    """Such as a task that has ended, or a socket that was closed."""


def test_what_is_over_takes_no_room_in_an_attempt_that_goes_on() -> None:
    """Such as a worker's, which has timers, tasks and requests for days."""
    seen, many = Requests(), 5 * MOST_KEPT
    for _ in range(many):
        seen.job(Over())
        seen.timer(Over())
        seen.owns(Over())
        seen.begin("a client", "graph", 1, "POST").leaves()
    kept = [each for each in vars(seen).values() if isinstance(each, Sized)]
    assert sum(map(len, kept)) <= 2 * MOST_KEPT
    assert seen.gone == f"{many} requests (a request by a client to graph:1)"
    assert seen.belies(many - 1)
    assert not seen.belies(many)
    assert not (seen.sent_one or seen.sent_nothing)


def test_what_watches_is_put_in_place_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though two threads make the first attempts of a process."""
    hooks: list[Callable[..., Any]] = []
    made: list[Patches] = []

    def patches() -> Patches:
        time.sleep(0.1)
        made.append(Patches({}))
        return made[-1]

    monkeypatch.setattr(watch, "_patches", None)
    monkeypatch.setattr(places, "patches", patches)
    monkeypatch.setattr(sys, "addaudithook", hooks.append)
    threads = [threading.Thread(target=watch.install) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in made:
        each.remove()
    assert len(made) == len(hooks) == 1
