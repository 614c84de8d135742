"""One call, event by event."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import outlast
from conftest import NEEDS_REPAIR, REFUSED
from fakes import Failing, envelope
from outlast import Call, PluginError, Policy, Result, Retry, Session, Stop
from outlast.testing import VirtualClock

READ = Call(remote=True, write=False, label="query")
AWAY = Result(exit_code=1, stderr=REFUSED)
CONFLICT = Result(exit_code=1, stderr=b"stale view of dataset: refresh and retry\n")
REPAIR = Result(exit_code=1, stderr=NEEDS_REPAIR)


def retry(action: outlast.Action) -> Retry:
    assert isinstance(action, Retry)
    return action


def test_the_schedule_to_the_deadline() -> None:
    session = Policy("omnigraph").session(READ)
    now, starts = 0.0, [0.0]
    while isinstance(action := session.next(AWAY, now, random=1.0), Retry):
        now += action.delay
        starts.append(now)
    grown = [0.0, 0.5, 1.5, 3.5, 7.5, 15.5]
    assert starts[:6] == pytest.approx(grown, abs=1e-4)
    assert starts[-1] == pytest.approx(150.0)
    outcome = action.outcome
    assert (outcome.type, outcome.reason, outcome.budget) == ("exhausted", "window", "unavailable")
    assert outcome.attempts == len(starts)
    assert outcome.result is AWAY
    assert outcome.last_error.endswith("tcp connect error: Connection refused (os error 111)")
    assert [h.number for h in outcome.history][:4] == [1, 2, 3, 4]


def test_an_action_says_all() -> None:
    action = retry(Policy("omnigraph").session(READ).next(AWAY, 3.0, random=1.0, explain=True))
    assert action.delay == pytest.approx(0.5, abs=2e-6)  # the longest jitter is random 0
    assert replace(action, why=None, delay=0.5) == Retry(
        delay=0.5,
        wake=outlast.Wake("accepting"),
        kind="unavailable",
        budget="unavailable",
        attempt=2,
        remaining=150.0,
    )
    assert action.why is not None
    assert outlast.Matched("cause 1", "client error (Connect)") in action.why.matched


def test_a_write_is_woken_by_readiness_only() -> None:
    session = Policy("omnigraph").session(Call(remote=True, write=True))
    action = retry(session.next(AWAY, 0.0, random=0.0))
    assert action.delay == 0.55
    assert action.wake == outlast.Wake("ready")
    # Accepting is not enough: the wait goes on.
    action = retry(session.woken("accepting", 0.2))
    assert action.delay == 0.35
    action = retry(session.woken("ready", 0.3, random=0.5))
    assert 0 <= action.delay <= 0.1
    outcome = session.next(Result(exit_code=0), 0.4)
    assert isinstance(outcome, Stop)
    assert outcome.outcome.ok


def test_a_repair_is_reported_as_one() -> None:
    session = Policy("omnigraph").session(Call(remote=False, write=True))
    action = retry(session.next(REPAIR, 0.0))
    assert (action.repair, action.repair_force, action.delay) == (True, False, 0.0)
    action = retry(session.next(Result(exit_code=0), 1.0))
    assert not action.repair
    stop = session.next(Result(exit_code=0), 2.0)
    assert isinstance(stop, Stop)
    assert (stop.outcome.type, stop.outcome.attempts) == ("ok", 2)


def test_a_repair_that_fails_stops() -> None:
    session = Policy("omnigraph").session(Call(remote=False, write=True))
    session.next(REPAIR, 0.0)
    stop = session.next(Result(exit_code=1, stderr=b"no"), 1.0)
    assert isinstance(stop, Stop)
    assert stop.outcome.reason == "repair_failed"
    assert stop.outcome.result is REPAIR


def test_cancelled() -> None:
    session = Policy("omnigraph").session(Call(remote=True, write=True))
    session.next(AWAY, 0.0)
    stop = session.cancelled(now=0.1)
    assert (stop.outcome.type, stop.outcome.effects) == ("cancelled", "none")
    assert session.over
    with pytest.raises(RuntimeError, match="the session is over"):
        session.next(AWAY, 1.0)


def test_cancelled_while_an_attempt_ran() -> None:
    session = Policy("omnigraph").session(Call(remote=True, write=True))
    session.next(AWAY, 0.0)
    running = Result(signal="SIGINT")
    stop = session.cancelled(running, 0.1)
    assert (stop.outcome.type, stop.outcome.effects) == ("cancelled", "unknown")
    assert stop.outcome.result is running


def test_a_session_can_be_continued_elsewhere() -> None:
    session = Policy("omnigraph").session(READ, seed=1)
    now = 0.0
    for _ in range(4):
        now += retry(session.next(AWAY, now)).delay
    assert session.state.isascii()
    assert 0 < len(session.state) <= 1024
    other = Policy("omnigraph").session(READ, seed=1, state=session.state)
    assert other.next(AWAY, now) == session.next(AWAY, now)


def test_a_state_of_another_policy_is_refused() -> None:
    session = Policy("omnigraph").session(READ)
    session.next(AWAY, 0.0)
    other = Policy("witan-core").session(READ, state=session.state)
    with pytest.raises(PluginError) as raised:
        other.next(AWAY, 1.0)
    assert (raised.value.code, raised.value.result) == ("bad_state", AWAY)
    assert not other.over


def test_a_seed_decides_the_jitter() -> None:
    delays = {
        retry(Policy("omnigraph").session(READ, seed=s).next(AWAY, 0.0)).delay for s in (1, 1, 2)
    }
    assert len(delays) == 2
    free = {retry(Policy("omnigraph").session(READ).next(AWAY, 0.0)).delay for _ in range(10)}
    assert len(free) > 5


def test_the_default_clock_is_the_one_in_force(clock: VirtualClock) -> None:
    session = Policy("omnigraph").session(READ)
    session.next(AWAY)
    clock.advance(150.0)
    stop = session.next(AWAY)
    assert isinstance(stop, Stop)
    assert stop.outcome.elapsed == 150.0


def test_a_wake_without_a_wait_is_refused() -> None:
    session = Policy("omnigraph").session(READ)
    session.next(CONFLICT, 0.0, random=0.0)
    with pytest.raises(PluginError, match="woken"):
        session.woken("ready", 0.0)


def session_of(call: Any, seed: Any) -> Session:
    return Policy("omnigraph").session(call, seed)


@pytest.mark.parametrize(
    ("use", "error", "text"),
    [
        (lambda s: s.next("failed"), TypeError, "result is of type str"),
        (lambda s: s.next(AWAY, math.nan), ValueError, "now is nan"),
        (lambda s: s.next(AWAY, "1"), TypeError, "now is '1'"),
        (lambda s: s.next(AWAY, 0.0, 1.5), ValueError, "random is 1.5"),
        (lambda s: s.woken("up"), ValueError, "by is 'up'"),
        (
            lambda s: Policy("omnigraph").session(READ, -1),
            ValueError,
            "seed is -1, and must be from 0",
        ),
        (lambda s: Policy("omnigraph").session(READ, 2**53), ValueError, "seed is"),
        (lambda s: session_of(READ, 0.5), TypeError, "seed is 0.5"),
        (lambda s: session_of({"remote": True}, 1), TypeError, "must be a Call"),
    ],
)
def test_what_is_wrong_is_named(use: Any, error: type[Exception], text: str) -> None:
    session = Policy("omnigraph").session(READ)
    with pytest.raises(error, match=text):
        use(session)
    assert retry(session.next(AWAY, 0.0)).attempt == 2


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b'{"v":1,"ok":{"action":{"type":"dance"},"state":"x"}}', "does not know the action"),
        (b'{"v":1,"ok":{}}', "malformed"),
        (b'{"v":1,"ok":{"action":{"type":"stop"}}}', "malformed"),
        (b'{"v":1,"ok":{"action":7}}', "malformed"),
    ],
)
def test_an_answer_that_is_not_understood_stops(answer: bytes, text: str) -> None:
    session = Policy("omnigraph", plugin=Failing(answer)).session(READ)
    with pytest.raises(PluginError, match=text) as raised:
        session.next(AWAY, 0.0)
    assert raised.value.result is AWAY


def test_an_instance_that_fails_costs_nothing() -> None:
    plugin = Failing(None, RuntimeError("lost"), envelope("internal"))
    session = Policy("omnigraph", plugin=plugin).session(READ, seed=5)
    told: list[Exception] = []
    session.on_replaced = told.append
    sound = Policy("omnigraph").session(READ, seed=5)
    now = 0.0
    assert session.next(AWAY, now) == sound.next(AWAY, now)
    with pytest.raises(PluginError, match="again") as raised:
        session.next(AWAY, 1.0)
    assert raised.value.result is AWAY
    # Nothing is lost: what was spent is in the state.
    assert session.next(AWAY, 1.0) == sound.next(AWAY, 1.0)
    assert len(told) == 1


RESULTS = st.one_of(
    st.builds(
        Result,
        exit_code=st.integers(0, 255),
        stderr=st.one_of(st.binary(max_size=50), st.sampled_from([REFUSED, CONFLICT.stderr])),
        stdout=st.binary(max_size=20),
        retry_after=st.none() | st.floats(),
    ),
    st.builds(Result, http_status=st.integers(0, 999), message=st.text(max_size=40)),
    st.builds(Result, signal=st.sampled_from(["SIGKILL", "SIGINT", "SIGSEGV"])),
    st.just(Result(timed_out=True)),
)


@given(
    st.booleans(),
    st.booleans(),
    st.lists(st.tuples(RESULTS, st.floats(-100, 400)), min_size=1, max_size=12),
)
def test_whatever_happens_a_call_ends_or_waits(
    remote: bool, write: bool, happened: list[tuple[Result, float]]
) -> None:
    session: Session = Policy("omnigraph").session(Call(remote=remote, write=write))
    now = 0.0
    for result, took in happened:
        now += took
        action = session.next(result, now)
        if isinstance(action, Stop):
            assert session.over
            assert session.state == ""
            assert action.outcome.attempts >= 1
            return
        assert 0 <= action.delay <= 150
        assert session.state
        now += action.delay


def test_a_session_that_is_taken_up_in_the_midst_of_a_repair() -> None:
    policy, call = Policy("omnigraph"), Call(remote=False, write=True)
    session = policy.session(call)
    asked = retry(session.next(Result(exit_code=1, stderr=NEEDS_REPAIR), 0.0))
    assert asked.repair
    again = policy.session(call, state=session.state)
    assert not retry(again.next(Result(exit_code=0), 1.0)).repair
    stop = again.next(Result(exit_code=0), 2.0)
    assert isinstance(stop, Stop)
    assert stop.outcome.ok
    # In the midst of a wait it is an attempt, as ever.
    session = policy.session(READ)
    session.next(AWAY, 0.0)
    assert retry(policy.session(READ, state=session.state).next(AWAY, 1.0)).attempt == 3


def test_a_claim_for_a_loop_of_ones_own() -> None:
    refused = Result(failure="unconnected", message="refused")
    write = Call(remote=True, write=True)
    assert isinstance(Policy().session(write).next(refused, 0.0), Stop)
    session = Policy().session(write, only_request=True)
    retry(session.next(refused, 0.0))
    stop = session.next(Result(http_status=404), 1.0)
    assert isinstance(stop, Stop)
    assert stop.outcome.effects == "none"
