"""A policy in a folder that others keep."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import shutil
import sys
import threading
from collections.abc import Callable
from datetime import datetime, timezone
from hashlib import sha256
from pathlib import Path
from typing import Any

import prometheus_client
import pytest

import outlast
from outlast import Call, Policy, PolicyError, Result, hooks
from outlast import events as e
from outlast.testing import VirtualClock

READ = Call(remote=True, write=False, label="orders")
AWAY = Result(failure="unconnected", sent="no", only_request=True)
OK = Result(http_status=200)
NETWORK = Path(__file__).parents[3] / "plugin" / "policy" / "builtin" / "network.json"
READING = Path(__file__).parents[3] / "followed" / "testdata"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "policies"
    folder.mkdir(mode=0o755)
    return folder


def release(folder: Path, serial: int, max_wait: str = "150s", base: str = "500ms") -> None:
    """Put a policy into a folder: network's rules with another window and first delay."""
    document = json.loads(NETWORK.read_text("utf-8"))
    budget = document["budgets"]["unavailable"]
    budget["max_wait"], budget["backoff"]["base"] = max_wait, base
    time = "2026-03-03T10:00:00Z"
    envelope = json.dumps(
        {"version": 1, "name": "network", "serial": serial, "time": time, "document": document}
    )
    file = {
        "version": 1,
        "envelope": envelope,
        "digest": f"sha256:{sha256(envelope.encode()).hexdigest()}",
        "source": "https://policies.example/network.json",
        "pulled": "2026-03-04T08:30:00Z",
    }
    put(folder, json.dumps(file))


def put(folder: Path, text: str) -> None:
    new = folder / ".new"
    new.write_text(text, "utf-8")
    new.chmod(0o644)
    new.replace(folder / "network.json")


def told(policy: Policy) -> e.PolicyInForce:
    """What a call says that it goes by."""
    events: list[e.Event] = []
    results = [AWAY, OK]
    policy.run(lambda: results.pop(0), READ, sleep=lambda _: None, observe=events.append)
    (found,) = [event for event in events if isinstance(event, e.PolicyInForce)]
    return found


@pytest.mark.parametrize("case", json.loads((READING / "reading.json").read_text()), ids=str)
def test_every_host_reads_alike(
    case: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "orders.json"
    shutil.copyfile(READING / "reading" / f"{case['file']}.json", path)
    path.chmod(int(case.get("mode", "0644"), 8))
    folder.chmod(int(case.get("folder_mode", "0755"), 8))
    for place, name in ((path, "owner"), (folder, "folder_owner")):
        if name in case:
            _give(place, case[name], monkeypatch)
    if "why" in case:
        with pytest.raises(PolicyError, match="no such policy comes with outlast") as raised:
            Policy.follow(folder, "orders")
        assert raised.value.__cause__ is not None
        assert case["why"] in str(raised.value.__cause__)
        return
    policy = Policy.follow(folder, "orders")
    found = policy.release
    assert found is not None
    assert found.serial == case["serial"]
    assert found.since == datetime(2026, 3, 4, 8, 30, tzinfo=timezone.utc)
    assert (found.expires is not None) == case.get("expired", False)
    assert policy.digest == Policy(policy.document or {}).digest


def _give(path: Path, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a file to somebody else; who is not root becomes somebody else."""
    if os.geteuid() == 0:
        os.chown(path, owner, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: owner)


def test_neither_a_link_nor_a_pipe_nor_too_much_is_read(folder: Path) -> None:
    path = folder / "orders.json"

    def why() -> str:
        with pytest.raises(PolicyError) as raised:
            Policy.follow(folder, "orders")
        path.unlink()
        return str(raised.value.__cause__)

    path.symlink_to(READING / "reading" / "valid.json")
    assert "symbolic links" in why()
    os.mkfifo(path, 0o644)
    assert "no regular file" in why()
    path.touch(0o644)
    os.truncate(path, 1 << 40)
    assert "longer than" in why()
    (folder / "link").symlink_to(folder)
    with pytest.raises(PolicyError, match="no directory"):
        Policy.follow(folder / "link", "orders")
    with pytest.raises(PolicyError, match="by its name, not a path"):
        Policy.follow(folder, "../network")


def test_the_last_good_one_is_in_force(folder: Path) -> None:
    policy = Policy.follow(folder, "network")

    def in_force(serial: int | None, why: str = "") -> None:
        event = told(policy)
        assert (event.release and event.release.serial) == serial
        assert why in str(event.why)
        assert (event.why is None) == (not why)

    in_force(None, "No such file")
    release(folder, 3)
    in_force(3)
    release(folder, 4, "200s", "1s")
    in_force(4)
    assert policy.release is not None
    assert policy.release.source == "https://policies.example/network.json"
    document = policy.document
    assert document is not None
    assert document["budgets"]["unavailable"]["max_wait"] == "200s"
    release(folder, 3)
    in_force(4, "serial 3 is lower than 4")
    put(folder, "{}")
    in_force(4, "version: is missing")
    shutil.rmtree(folder)
    in_force(4, "No such file")
    folder.mkdir(mode=0o755)
    release(folder, 5)
    in_force(5)
    folder.chmod(0o777)
    release(folder, 6)
    in_force(5, "can be written by others")
    folder.chmod(0o755)
    in_force(6)


def test_wherever_a_policy_may_be(folder: Path, clock: VirtualClock) -> None:
    release(folder, 1, base="2s")
    policy = Policy.follow(folder, "network", check=False)
    results: list[Exception | int] = [ConnectionRefusedError(), 1]

    @outlast.retry(remote=True, write=False, policy=policy)
    def ask() -> int:
        match results.pop(0):
            case Exception() as error:
                raise error
            case value:
                return value

    assert ask() == 1
    assert clock.slept.pop() >= 2
    release(folder, 2, base="4s")
    results[:] = [ConnectionRefusedError(), 2]
    assert ask() == 2  # the next call of the same function
    assert clock.slept.pop() >= 4

    argv = [sys.executable, "-c", "raise SystemExit(7)"]
    done = outlast.run_command(argv, READ, policy=policy)
    assert done.outcome.type == "failed"

    session = policy.session(READ)
    release(folder, 3, base="8s")
    first = session.next(AWAY, 0.0)  # what is in force at the first event decides
    assert isinstance(first, outlast.Retry)
    assert first.delay >= 8
    own = session.policy.digest
    release(folder, 4, base="1s")
    assert isinstance(session.next(AWAY, 10.0), outlast.Retry)
    assert session.policy.digest == own != policy.digest


def test_what_a_caller_changes_of_it(folder: Path, clock: VirtualClock) -> None:
    """It is what is in force that is changed, and what is told is what was published."""
    release(folder, 1, max_wait="100s")
    policy = Policy.follow(folder, "network")
    own = policy.with_max_wait(7).with_spread(5)
    for changed in (own, pickle.loads(pickle.dumps(own))):
        budget = changed.document["budgets"]["unavailable"]
        assert (budget["max_wait"], budget["wake"]["spread"]) == ("7s", "5s")
    assert own.release == policy.release
    with pytest.raises(ValueError, match="max_wait is 0, and must be above 0"):
        policy.with_max_wait(0)

    release(folder, 2, base="2s")
    event = told(own)
    assert (event.digest, event.release) == (policy.digest, policy.release)
    began = clock.now()
    with pytest.raises(outlast.Exhausted) as raised:
        outlast.retry(remote=True, write=False, policy=policy, max_wait=7)(refuse)()
    assert clock.now() - began == pytest.approx(7)
    assert raised.value.outcome.attempts == 4  # after 2, 6 and 7 s


def refuse() -> None:
    raise ConnectionRefusedError(111, "Connection refused")


def test_it_can_be_pickled_and_keeps_what_it_holds(folder: Path) -> None:
    release(folder, 7)
    policy = pickle.loads(pickle.dumps(Policy.follow(folder, "network")))
    shutil.rmtree(folder)
    assert policy.release.serial == 7


def test_logs_and_metrics(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    registry = prometheus_client.CollectorRegistry()
    hooks.set_hooks([hooks.LoggingHook(), hooks.PrometheusHook(registry)])
    caplog.set_level(logging.DEBUG, "outlast")

    def shown() -> tuple[float | None, str]:
        caplog.clear()
        told(policy)
        (record,) = [r for r in caplog.records if "policy in force" in r.getMessage()]
        serial = registry.get_sample_value(
            "outlast_policy_serial", {"policy": "network", "command": ""}
        )
        return serial, record.levelname

    try:
        policy = Policy.follow(folder, "network")
        assert shown() == (0, "DEBUG")
        release(folder, 9)
        assert shown() == (9, "DEBUG")
        put(folder, "{}")
        assert shown() == (9, "WARNING")
    finally:
        hooks.set_hooks(None)


class Ride:
    """A call through an outage, on a clock of its own, by whatever is in force."""

    def __init__(self, policy: Policy, seed: int) -> None:
        self.policy = policy
        self.clock = VirtualClock()
        self.starts: list[float] = []
        self.digest = ""  # of the policy that it says it goes by
        self.outcome: outlast.Outcome | None = None
        self.options: dict[str, Any] = {
            "clock": self.clock.now,
            "seed": seed,
            "observe": self._observe,
        }

    def _observe(self, event: e.Event) -> None:
        if isinstance(event, e.PolicyInForce):
            assert self.digest == ""
            self.digest = event.digest

    def attempt(self) -> Result:
        self.starts.append(self.clock.now())
        return OK if self.clock.now() >= 60 else AWAY

    def run(self, hold: Callable[[], object], in_plugin: bool = False) -> None:
        def attempt() -> Result:
            if len(self.starts) == 1:
                hold()
            return self.attempt()

        run = self.policy.run_in_plugin if in_plugin else self.policy.run
        self.outcome = run(attempt, READ, sleep=self.clock.sleep, **self.options)

    async def arun(self, hold: Callable[[], Any]) -> None:
        async def attempt() -> Result:
            if len(self.starts) == 1:
                await hold()
            return self.attempt()

        self.outcome = await self.policy.arun(
            attempt, READ, sleep=self.clock.asleep, **self.options
        )


def test_a_policy_changes_under_waiting_calls(folder: Path) -> None:
    """Each of a thousand waiting calls goes on by its own policy, to the microsecond as if
    nothing had happened, and those that begin afterwards go by the new one.
    """
    calls, seeds, threads = 1000, 10, 20
    release(folder, 1)
    policy = Policy.follow(folder, "network")

    def alone() -> list[Ride]:
        rides = [Ride(policy, seed) for seed in range(seeds)]
        for ride in rides:
            ride.run(lambda: None)
        return rides

    before = alone()
    rides = [Ride(policy, number % seeds) for number in range(calls)]
    waiting = threading.Semaphore(0)
    changed = threading.Event()

    def hold() -> None:
        waiting.release()
        changed.wait()

    running = [
        threading.Thread(target=ride.run, args=(hold, number % 4 == 0))
        for number, ride in enumerate(rides[:threads])
    ]
    for thread in running:
        thread.start()
    for _ in running:
        waiting.acquire()

    async def main() -> tuple[list[Ride], list[Ride]]:
        inside = 0
        all_in, go_on = asyncio.Event(), asyncio.Event()

        async def hold() -> None:
            nonlocal inside
            inside += 1
            if inside == calls - threads:
                all_in.set()
            await go_on.wait()

        tasks = [asyncio.create_task(ride.arun(hold)) for ride in rides[threads:]]
        await all_in.wait()
        release(folder, 2, "300s", "3s")
        after = alone()
        shutil.rmtree(folder)  # and then the folder goes away
        gone = alone()
        go_on.set()
        await asyncio.gather(*tasks)
        return after, gone

    after, gone = asyncio.run(main())
    changed.set()
    for thread in running:
        thread.join()

    for own, new, last in zip(before, after, gone, strict=True):
        assert own.digest != new.digest
        assert own.starts != new.starts
        assert (last.digest, last.starts) == (new.digest, new.starts)
    for number, ride in enumerate(rides):
        own = before[number % seeds]
        assert ride.outcome is not None
        assert ride.outcome.ok
        assert (ride.digest, ride.starts) == (own.digest, own.starts)
