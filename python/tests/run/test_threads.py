"""Many threads at once, in real time."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import outlast
import outlast.testing
from fakes import Failing
from outlast import Call, Outcome, Policy, Result

READ = Call(remote=True, write=False)


def test_twenty_threads_at_once() -> None:
    plugin = Failing()
    policy = Policy("omnigraph", plugin=plugin)
    start = threading.Barrier(20)
    back = [0.0]

    def attempt() -> Result:
        if time.monotonic() < back[0]:
            raise ConnectionRefusedError(111, "Connection refused")
        return Result(exit_code=0)

    def work(number: int) -> Outcome:
        start.wait()
        drive = policy.run_in_plugin if number % 4 == 0 else policy.run
        return drive(attempt, READ, seed=number)

    back[0] = time.monotonic() + 2.0
    with ThreadPoolExecutor(20) as pool:
        outcomes = list(pool.map(work, range(20)))
    assert [o.type for o in outcomes] == ["ok"] * 20
    assert len({o.elapsed for o in outcomes}) == 20
    assert plugin.replaced == 0
    # A thread that waits holds no instance, but for those in which the plugin drives.
    assert plugin.started <= 5 + (os.cpu_count() or 1)


def test_threads_end_with_what_they_began() -> None:
    before = threading.active_count()
    for _ in range(3):
        with outlast.testing.virtual_time():
            Policy("omnigraph").run(lambda: Result(exit_code=1), READ)
    assert threading.active_count() == before
