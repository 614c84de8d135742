"""What all ways to carry out a call have in common: Python drives, in a plain
function, in asyncio and in trio, or the plugin drives.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import trio

import outlast
from conftest import NEEDS_REPAIR, REFUSED
from fakes import Failing, MidRun
from outlast import Call, Outcome, Policy, Result
from outlast import events as e
from outlast.testing import VirtualClock

READ = Call(remote=True, write=False, label="query")
WRITE = Call(remote=True, write=True)
AWAY = Result(exit_code=1, stderr=REFUSED)
OK = Result(exit_code=0, stdout=b"rows")

Attempts = Callable[[], Result]


def on_a_thread(policy: Policy, attempt: Attempts, call: Call, **options: Any) -> Outcome:
    return policy.run(attempt, call, **options)


def in_plugin(policy: Policy, attempt: Attempts, call: Call, **options: Any) -> Outcome:
    return policy.run_in_plugin(attempt, call, **options)


def as_coroutine(function: Callable[..., Any] | None) -> Any:
    if function is None:
        return None

    async def coroutine(*args: Any) -> Any:
        return function(*args)

    return coroutine


async def _arun(policy: Policy, attempt: Attempts, call: Call, **options: Any) -> Outcome:
    for name in ("repair", "sleep"):
        if name in options:
            options[name] = as_coroutine(options[name])
    return await policy.arun(as_coroutine(attempt), call, **options)


def in_asyncio(policy: Policy, attempt: Attempts, call: Call, **options: Any) -> Outcome:
    return asyncio.run(_arun(policy, attempt, call, **options))


def in_trio(policy: Policy, attempt: Attempts, call: Call, **options: Any) -> Outcome:
    async def main() -> Outcome:
        return await _arun(policy, attempt, call, **options)

    return trio.run(main)


Drive = Callable[..., Outcome]


@pytest.fixture(params=[on_a_thread, in_asyncio, in_trio, in_plugin], ids=lambda f: f.__name__)
def drive(request: pytest.FixtureRequest) -> Drive:
    function: Drive = request.param
    return function


class Scripted:
    """Gives results, or raises exceptions, one after another, the last for ever."""

    def __init__(self, *what: Result | BaseException) -> None:
        self.what = list(what)
        self.made = 0

    def __call__(self) -> Result:
        what = self.what[min(self.made, len(self.what) - 1)]
        self.made += 1
        if isinstance(what, BaseException):
            raise what
        return what


def test_a_success_touches_nothing_of_the_plugin(
    drive: Drive, clock: VirtualClock, events: list[e.Event]
) -> None:
    plugin = Failing()
    outcome = drive(Policy("omnigraph", plugin=plugin), Scripted(OK), READ)
    assert (outcome.ok, outcome.attempts, outcome.result) == (True, 1, outcome.result)
    assert outcome.result is not None
    assert outcome.result.stdout == b"rows"
    assert not plugin.loaded
    assert [type(event) for event in events] == [e.AttemptEnded, e.Stopped]


def test_an_outage_is_ridden_out(drive: Drive, clock: VirtualClock, events: list[e.Event]) -> None:
    def attempt() -> Result:
        clock.advance(0.125)
        return OK if clock.now() > 61 else AWAY

    outcome = drive(Policy("omnigraph"), attempt, READ, seed=3)
    assert outcome.ok
    assert clock.now() < 61 + 10.2
    waits = [event for event in events if isinstance(event, e.Waiting)]
    assert [w.attempt for w in waits] == list(range(2, outcome.attempts + 1))
    assert [round(w.delay, 6) for w in waits] == [round(s, 6) for s in clock.slept]
    assert waits[0].kind == "unavailable"
    assert waits[0].remaining == 150.0
    assert waits[0].at == 0.125
    last = events[-1]
    assert isinstance(last, e.Stopped)
    assert last.outcome == outcome
    assert {event.call for event in events} == {READ}


def test_all_drivers_decide_alike(clock: VirtualClock) -> None:
    slept, outcomes = [], []
    for drive in (on_a_thread, in_asyncio, in_trio, in_plugin):
        own = VirtualClock()
        outcomes.append(
            drive(
                Policy("omnigraph"), Scripted(AWAY), READ, seed=11, clock=own.now, sleep=own.sleep
            )
        )
        slept.append(own.slept)
    assert slept == [slept[0]] * 4
    assert outcomes == [outcomes[0]] * 4
    assert clock.slept == []


def test_a_call_that_never_succeeds(drive: Drive, clock: VirtualClock) -> None:
    outcome = drive(Policy("omnigraph"), Scripted(AWAY), READ)
    assert (outcome.type, outcome.reason) == ("exhausted", "window")
    assert clock.now() == pytest.approx(150.0)
    assert outcome.attempts == len(clock.slept) + 1
    assert outcome.result is not None
    assert outcome.result.stderr == REFUSED
    with pytest.raises(outlast.Exhausted, match="query: gave up") as raised:
        drive(Policy("omnigraph"), Scripted(AWAY), READ, check=True)
    assert raised.value.outcome.attempts > 15


def test_a_broken_connection_of_a_write_is_never_repeated(
    drive: Drive, clock: VirtualClock
) -> None:
    broken = ConnectionResetError(104, "Connection reset by peer")
    attempt = Scripted(broken)
    outcome = drive(Policy("omnigraph"), attempt, WRITE)
    assert (outcome.type, outcome.effects, attempt.made) == ("indeterminate", "unknown", 1)
    with pytest.raises(outlast.Indeterminate) as raised:
        drive(Policy("omnigraph"), Scripted(broken), WRITE, check=True)
    assert raised.value.__cause__ is broken


def test_exceptions_that_stand_for_a_result(drive: Drive, clock: VirtualClock) -> None:
    attempt = Scripted(ConnectionRefusedError(), ConnectionRefusedError(), OK)
    assert drive(Policy("omnigraph"), attempt, WRITE, only_request=True).attempts == 3


def test_an_exception_that_stands_for_none_comes_out(drive: Drive, clock: VirtualClock) -> None:
    class OurError(Exception):
        pass

    for what in ([OurError("mine")], [AWAY, OurError("mine")]):
        attempt = Scripted(*what)
        cause = ValueError()
        attempt.what[-1].__cause__ = cause  # type: ignore[union-attr]
        with pytest.raises(OurError, match="mine") as raised:
            drive(Policy("omnigraph"), attempt, READ)
        assert raised.value.__cause__ is cause
        assert attempt.made == len(what)


def test_exceptions_can_be_mapped(drive: Drive, clock: VirtualClock) -> None:
    def result_of(error: Exception) -> Result | None:
        return AWAY if isinstance(error, KeyError) else None

    attempt = Scripted(KeyError("x"), ConnectionRefusedError(), OK)
    assert drive(Policy("omnigraph"), attempt, READ, result_of=result_of).attempts == 3


def test_what_an_attempt_must_give(drive: Drive, clock: VirtualClock) -> None:
    with pytest.raises(TypeError, match="the attempt gave a str, and must give a Result"):
        drive(Policy("omnigraph"), lambda: "done", READ)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
@pytest.mark.parametrize("when", [0, 2])
def test_ctrl_c_in_an_attempt(
    error: BaseException, when: int, clock: VirtualClock, events: list[e.Event]
) -> None:
    for drive in (on_a_thread, in_plugin):
        attempt = Scripted(*[AWAY] * when, error)
        with pytest.raises(type(error)):
            drive(Policy("omnigraph"), attempt, WRITE)
        assert attempt.made == when + 1
        last = events[-1]
        assert isinstance(last, e.Stopped)
        assert (last.outcome.type, last.outcome.effects) == ("cancelled", "unknown")
        assert last.outcome.attempts == when + 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_ctrl_c_in_a_wait(error: BaseException, events: list[e.Event]) -> None:
    for drive in (on_a_thread, in_plugin):
        attempt = Scripted(AWAY)

        def sleep(seconds: float) -> None:
            raise error

        with pytest.raises(type(error)):
            drive(Policy("omnigraph"), attempt, WRITE, sleep=sleep)
        assert attempt.made == 1
        last = events[-1]
        assert isinstance(last, e.Stopped)
        assert (last.outcome.type, last.outcome.effects) == ("cancelled", "none")


def test_a_sleep_or_a_clock_that_fails_ends_the_call(drive: Drive, clock: VirtualClock) -> None:
    def broken(*_: float) -> float:
        raise OSError("no clock")

    attempt = Scripted(AWAY)
    with pytest.raises(OSError, match="no clock"):
        drive(Policy("omnigraph"), attempt, READ, sleep=broken)
    with pytest.raises(OSError, match="no clock"):
        drive(Policy("omnigraph"), attempt, READ, clock=broken)
    assert attempt.made == 1


def test_the_delay_counts_from_the_failure(drive: Drive) -> None:
    now = [0.0]
    slept: list[float] = []

    def tick() -> float:
        now[0] += 0.01  # whatever is done meanwhile takes its time
        return now[0]

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    attempt = Scripted(AWAY, AWAY, OK)
    delays: list[float] = []

    def observe(event: e.Event) -> None:
        if isinstance(event, e.Waiting):
            delays.append(event.delay)

    drive(Policy("omnigraph"), attempt, READ, clock=tick, sleep=sleep, observe=observe)
    assert len(slept) == 2
    for delay, wait in zip(delays, slept, strict=True):
        assert delay - 0.1 < wait < delay


def test_a_clock_that_goes_backwards_never_waits_longer(drive: Drive) -> None:
    times = iter([100.0, 100.0, 50.0, 40.0, *[30.0] * 1000])
    slept: list[float] = []
    outcome = drive(
        Policy("omnigraph"),
        Scripted(AWAY),
        READ,
        clock=lambda: next(times),
        sleep=slept.append,
    )
    assert outcome.type == "exhausted"
    assert sum(slept) <= 150.001


REPAIR = Result(exit_code=1, stderr=NEEDS_REPAIR)
LOCAL = Call(remote=False, write=True)


def test_a_repair(drive: Drive, clock: VirtualClock, events: list[e.Event]) -> None:
    forced: list[bool] = []

    def repair(force: bool) -> Result:
        forced.append(force)
        return OK

    outcome = drive(Policy("omnigraph"), Scripted(REPAIR, OK), LOCAL, repair=repair)
    assert (outcome.ok, outcome.attempts, forced) == (True, 2, [False])
    assert any(isinstance(event, e.Repairing) for event in events)


def test_without_a_way_to_repair_it_has_failed(drive: Drive, clock: VirtualClock) -> None:
    outcome = drive(Policy("omnigraph"), Scripted(REPAIR, OK), LOCAL)
    assert outcome.reason == "repair_failed"
    assert outcome.last_error == "this call has no way to repair"


def test_a_repair_that_raises_has_failed(drive: Drive, clock: VirtualClock) -> None:
    def repair(force: bool) -> Result:
        raise ValueError("no store")

    outcome = drive(Policy("omnigraph"), Scripted(REPAIR, OK), LOCAL, repair=repair)
    assert (outcome.reason, outcome.last_error) == ("repair_failed", "ValueError: no store")


def test_ctrl_c_in_a_repair(clock: VirtualClock) -> None:
    def repair(force: bool) -> Result:
        raise KeyboardInterrupt

    for drive in (on_a_thread, in_plugin):
        with pytest.raises(KeyboardInterrupt):
            drive(Policy("omnigraph"), Scripted(REPAIR, OK), LOCAL, repair=repair)


def test_secrets_are_told_to_nobody(
    drive: Drive, clock: VirtualClock, events: list[e.Event]
) -> None:
    said = Result(exit_code=1, stderr=b"bad token s3cr3t\n", stdout="s3cr3t", message="s3cr3t")
    outcome = drive(Policy("omnigraph"), Scripted(said), READ, secrets=["s3cr3t", ""])
    assert outcome.last_error == "bad token [redacted]"
    assert outcome.result is not None
    assert outcome.result.stderr == said.stderr  # the caller's own
    assert "s3cr3t" not in repr(events)
    assert "[redacted]" in repr(events)
    with pytest.raises(TypeError, match="secrets must be a list"):
        drive(Policy("omnigraph"), Scripted(OK), READ, secrets="s3cr3t")


def test_an_observer_is_told_besides_the_hooks(
    drive: Drive, clock: VirtualClock, events: list[e.Event]
) -> None:
    own: list[e.Event] = []
    drive(Policy("omnigraph"), Scripted(AWAY, OK), READ, observe=own.append)
    assert own == events


def test_loading_is_told_once(drive: Drive, clock: VirtualClock, events: list[e.Event]) -> None:
    policy = Policy("omnigraph", plugin=Failing())
    for _ in range(2):
        drive(policy, Scripted(AWAY, OK), READ)
    loaded = [event for event in events if isinstance(event, e.Loaded)]
    assert len(loaded) == 1
    assert loaded[0].took > 0


def test_a_plugin_that_cannot_be_loaded_takes_nothing_away(
    drive: Drive, clock: VirtualClock, tmp_path: Any
) -> None:
    policy = Policy("omnigraph", plugin=outlast.Plugin(tmp_path / "missing.wasm"))
    refused = ConnectionRefusedError(111, "Connection refused")
    with pytest.raises(outlast.PluginError, match="reading the plugin") as raised:
        drive(policy, Scripted(refused), READ)
    assert raised.value.__cause__ is refused
    assert raised.value.result is not None
    assert "Connection refused" in str(raised.value.result.message)


def test_an_instance_that_fails_is_replaced(
    drive: Drive, clock: VirtualClock, events: list[e.Event]
) -> None:
    plugin = Failing(RuntimeError("trapped"))
    outcome = drive(Policy("omnigraph", plugin=plugin), Scripted(AWAY, AWAY, OK), READ)
    assert (outcome.ok, outcome.attempts, plugin.replaced) == (True, 3, 1)
    replaced = [event for event in events if isinstance(event, e.InstanceReplaced)]
    assert [str(event.error) for event in replaced] == ["trapped"]


def test_two_instances_that_fail_at_the_same_point_end_the_call(
    drive: Drive, clock: VirtualClock
) -> None:
    plugin = Failing(RuntimeError("trapped"), RuntimeError("and again"))
    with pytest.raises(outlast.PluginError, match="trapped .and again: and again") as raised:
        drive(Policy("omnigraph", plugin=plugin), Scripted(AWAY), READ)
    assert raised.value.result is not None


@pytest.mark.parametrize("calls", range(8))
def test_a_run_goes_on_where_its_instance_was_lost(calls: int, clock: VirtualClock) -> None:
    plugin = MidRun(times=3, calls=max(calls, 1))
    attempt = Scripted(AWAY)
    outcome = in_plugin(Policy("omnigraph", plugin=plugin), attempt, READ, seed=7)
    # Each instance that is lost in a wait or an attempt has cost neither.
    assert (outcome.type, outcome.attempts) == ("exhausted", attempt.made)
    assert clock.now() == pytest.approx(150.0, abs=1e-3)
    assert plugin.replaced == 3


def test_a_run_of_more_attempts_than_one_call_makes(clock: VirtualClock) -> None:
    document = {
        "version": 1,
        "name": "often",
        "budgets": {
            "all": {
                "attempts": 1200,
                "backoff": {
                    "type": "linear",
                    "base": "1ms",
                    "cap": "1ms",
                },
            }
        },
        "rules": [{"kind": "failed", "then": [{"retry": "all"}]}],
    }
    policy = Policy(document)
    outcomes = [drive(policy, Scripted(AWAY), READ, seed=1) for drive in (on_a_thread, in_plugin)]
    assert [o.attempts for o in outcomes] == [1200, 1200]
    assert outcomes[0].history[-1].number == outcomes[1].history[-1].number == 1200


def test_a_call_says_when_it_began(drive: Drive, clock: VirtualClock) -> None:
    clock.advance(100.0)
    call = Call(remote=True, write=False, budget=30.0, started=90.0)
    outcome = drive(Policy("omnigraph"), Scripted(AWAY), call)
    assert outcome.reason == "call"
    assert clock.now() == pytest.approx(120.0)
    assert outcome.elapsed == pytest.approx(30.0)


def test_a_result_may_bring_its_own_times(drive: Drive, clock: VirtualClock) -> None:
    own = Result(exit_code=1, stderr=REFUSED, started=-5.0, ended=-1.0)
    outcome = drive(Policy("omnigraph"), Scripted(own, OK), READ)
    assert outcome.elapsed == pytest.approx(5.0 + clock.now())
