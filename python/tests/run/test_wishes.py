"""What a caller may wish of a call: another window, a number of attempts, time limits."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import trio

import outlast
from outlast import Policy, PolicyError, ready
from outlast import events as e
from outlast.testing import VirtualClock, no_retries


def refuse() -> None:
    raise ConnectionRefusedError(111, "Connection refused")


def ended(call: Any) -> outlast.Outcome:
    with pytest.raises(outlast.CallError) as raised:
        call()
    outcome: outlast.Outcome = raised.value.outcome
    return outcome


READ: dict[str, Any] = {"remote": True, "write": False}
WRITE: dict[str, Any] = {"remote": True, "write": True}


def test_another_window(clock: VirtualClock) -> None:
    outcome = ended(outlast.retry(**READ, max_wait=7)(refuse))
    assert outcome.reason == "window"
    assert clock.now() == pytest.approx(7.0)
    policy = Policy("network").with_max_wait(0.25)
    assert isinstance(policy, Policy)
    assert policy.document["budgets"]["unavailable"]["max_wait"] == "250ms"
    assert policy.document["budgets"]["busy"] == Policy("network").document["budgets"]["busy"]
    assert Policy("network").with_max_wait(0.25) is not policy
    network = Policy("network")
    assert network.with_max_wait(60) is network.with_max_wait(60.0)


def test_windows_that_cannot_be(tmp_path: Path) -> None:
    for wrong, error in ((0, ValueError), (-1, ValueError), ("60s", TypeError)):
        with pytest.raises(error, match="max_wait"):
            Policy("network").with_max_wait(wrong)  # type: ignore[arg-type]
    document = Policy("network").document
    del document["budgets"]["unavailable"]["max_wait"]
    document["budgets"]["unavailable"] = {**document["budgets"]["busy"]}
    with pytest.raises(PolicyError, match="no budget has a max_wait"):
        Policy(document, check=False).with_max_wait(60)


SPREAD = json.loads((Path(__file__).parents[3] / "host" / "testdata" / "spread.json").read_text())


def waking(wake: dict[str, Any] | None, **options: Any) -> Policy:
    """The policy of the table that all hosts play, with a wake."""
    document = deepcopy(SPREAD["policy"])
    if wake is not None:
        document["budgets"]["away"]["wake"] = wake
    return Policy(document, **options)


@pytest.mark.parametrize("case", SPREAD["cases"], ids=lambda case: case["name"])
@pytest.mark.parametrize("check", [True, False])
def test_another_spread(case: dict[str, Any], check: bool) -> None:
    changed = waking(case["wake"], check=check).with_spread(case["spread_us"] / 1e6)
    assert changed.document == waking(case["becomes"]).document


@pytest.mark.parametrize("us", SPREAD["wrong_us"])
def test_spreads_that_cannot_be(us: int, tmp_path: Path) -> None:
    for policy in (Policy("network"), waking(None), Policy.follow(tmp_path, "network")):
        with pytest.raises(ValueError, match=r"spread is .*, and must be above 0 s and at most"):
            policy.with_spread(us / 1e6)
        with pytest.raises(TypeError, match="spread is '5s', and must be a number of seconds"):
            policy.with_spread("5s")  # type: ignore[arg-type]


class Back:
    """Sees a server that is ready at once."""

    def watch(self, eager: bool, news: Callable[[], object]) -> Back:
        return self

    def seen(self) -> ready.Seen:
        return ready.Seen("ready", False)

    def stop(self) -> None:
        pass


def test_a_spread_comes_before_the_policys(tmp_path: Path) -> None:
    """The seed's second number is three quarters of it."""
    wide = Policy("network").with_spread(60)
    followed = Policy.follow(tmp_path, "network")

    def delays(**options: Any) -> list[float]:
        """Seconds from the server's return to the attempt."""
        seen: list[e.Event] = []
        ask = outlast.retry(**READ, attempts=2, seed=1, ready=Back(), **options)(refuse)
        with outlast.options(observe=seen.append):
            ended(ask)
            with outlast.options(spread=0.2):
                ended(ask)
        return [event.delay for event in seen if isinstance(event, e.Waiting) and event.again]

    assert delays() == [0.022373, 0.149156]
    wishes: list[dict[str, Any]] = [{}, {"max_wait": 60}, {"policy": wide}, {"policy": followed}]
    for wish in wishes:
        assert delays(**wish, spread=0.1) == [0.074578, 0.149156]


def test_which_statuses_a_policy_may_wait_for(tmp_path: Path) -> None:
    def waited(policy: Policy) -> list[int]:
        return [
            status for status in (200, 404, 409, 429, 500, 502, 503) if policy.waits_for(status)
        ]

    assert waited(Policy("network")) == [429, 502, 503]
    assert waited(Policy.follow(tmp_path, "network")) == [429, 502, 503]
    document = Policy("network").document
    document["rules"].insert(0, {"kind": "missing", "then": [{"retry": "busy"}]})
    assert waited(Policy(document, check=False)) == [200, 404, 409, 429, 500, 502, 503]
    document["rules"][0]["when"] = [{"failures": ["none"], "http_statuses": [404]}]
    assert waited(Policy(document)) == [404, 429, 502, 503]
    assert waited(Policy({"name": "faulty"}, check=False)) == [200, 404, 409, 429, 500, 502, 503]


def test_a_number_of_attempts(clock: VirtualClock) -> None:
    outcome = ended(outlast.retry(**READ, attempts=3)(refuse))
    assert (outcome.type, outcome.reason, outcome.kind) == ("exhausted", "attempts", "unavailable")
    assert (outcome.attempts, len(outcome.history), len(clock.slept)) == (3, 3, 2)
    assert outcome.message.endswith("all that its caller allows")
    assert ended(outlast.retry(**READ, attempts=1)(refuse)).attempts == 1


@pytest.mark.parametrize("attempts", [0, -1, True, 1.5, "3"])
def test_numbers_of_attempts_that_cannot_be(attempts: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="attempts is"):
        outlast.retry(**READ, attempts=attempts)(refuse)


def test_a_write_that_may_have_been_applied_before_is_in_doubt(clock: VirtualClock) -> None:
    def breaks() -> None:
        raise ConnectionResetError(104, "Connection reset by peer")

    outcome = ended(outlast.retry(**WRITE, repeatable=True, attempts=2)(breaks))
    assert (outcome.type, outcome.effects, outcome.attempts) == ("indeterminate", "unknown", 2)
    assert "it may have been applied: look before" in outcome.message


def test_the_off_switch_for_tests(clock: VirtualClock) -> None:
    ask = outlast.retry(**READ)(refuse)
    with no_retries():
        with no_retries():
            pass
        assert ended(ask).attempts == 1
        assert ended(lambda: asyncio.run(later())).attempts == 1
    assert clock.slept == []
    assert ended(ask).attempts > 5


@outlast.retry(remote=True, write=False)
async def later() -> None:
    refuse()


def test_options_of_the_calls_in_one_place(clock: VirtualClock) -> None:
    seen: list[e.Event] = []
    ask = outlast.retry(**READ, label="ask", attempts=2)(refuse)
    with outlast.options(attempts=4, label="inner", observe=seen.append):
        with outlast.options(attempts=3):
            assert ended(ask).attempts == 3
        assert ended(ask).attempts == 4
        assert ended(lambda: asyncio.run(later())).attempts == 4
    assert {event.call.label for event in seen} == {"inner"}
    assert ended(ask).attempts == 2
    with outlast.options(max_wait=1):
        assert ended(outlast.retry(**READ)(refuse)).reason == "window"
    with outlast.options(policy="omnigraph", attempts=1):
        assert ended(ask).attempts == 1
    with outlast.options(repeatable=True, attempts=2):
        assert ended(outlast.retry(**WRITE)(refuse)).attempts == 2
    with pytest.raises(TypeError, match="'seconds' is none of outlast.CallOptions"):
        outlast.options(seconds=1)  # type: ignore[call-arg]


def test_options_are_not_for_what_an_attempt_calls(clock: VirtualClock) -> None:
    made: list[str] = []

    @outlast.retry(**READ, attempts=2)
    def inner() -> None:
        made.append("inner")
        refuse()

    @outlast.retry(**READ, attempts=5)
    def outer() -> None:
        made.append("outer")
        with pytest.raises(outlast.Exhausted):
            inner()

    with outlast.options(attempts=1):
        outer()
    assert made == ["outer", "inner", "inner"]


def test_exceptions_that_count_as_a_server_that_is_away(clock: VirtualClock) -> None:
    class Away(Exception):
        pass

    left = [Away("x"), Away("y")]

    def ask() -> str:
        if left:
            raise left.pop()
        return "answer"

    assert outlast.retry(**READ, on=(KeyError, Away))(ask)() == "answer"
    left = [Away("x")]
    assert outlast.retry(**WRITE, on=Away, repeatable=True)(ask)() == "answer"
    for wrong in (WRITE, {**WRITE, "repeatable": True, "only_request": True}):
        with pytest.raises(ValueError, match="an exception does not say that nothing was applied"):
            outlast.retry(**wrong, on=Away)(ask)


@pytest.mark.parametrize(
    "wrong",
    [{"on": "x"}, {"on": [KeyError]}, {"on": BaseException}, {"ready": "http://graph:8080/readyz"}],
)
def test_what_is_of_another_type_is_told_before_an_outage(wrong: Any) -> None:
    with pytest.raises(TypeError, match="outlast: (on=|ready) "):
        outlast.retry(**READ, **wrong)(print)
    with pytest.raises(TypeError, match="outlast: (on=|ready) "):
        outlast.attempts(**READ, **wrong)


@pytest.mark.parametrize("run", [asyncio.run, lambda coroutine: trio.run(lambda: coroutine)])
def test_a_time_limit_for_each_attempt(run: Any) -> None:
    made: list[int] = []

    @outlast.retry(**READ, attempt_timeout=0.05)
    async def ask() -> int:
        made.append(1)
        if len(made) == 1:
            await (asyncio.sleep if run is asyncio.run else trio.sleep)(3600)
        return len(made)

    began = time.monotonic()
    assert run(ask()) == 2
    assert time.monotonic() - began < 5


def test_a_write_that_is_ended_is_in_doubt(clock: VirtualClock) -> None:
    @outlast.retry(**WRITE, attempt_timeout=0.01)
    async def write() -> None:
        await asyncio.sleep(3600)

    outcome = ended(lambda: asyncio.run(write()))
    assert (outcome.type, outcome.kind) == ("indeterminate", "timed_out")


def test_a_time_limit_that_nobody_can_keep() -> None:
    with pytest.raises(TypeError, match="refuse cannot be ended from outside"):
        outlast.retry(**READ, attempt_timeout=1)(refuse)
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="attempt_timeout"):
            outlast.retry(**READ, attempt_timeout=wrong)


def test_an_exception_that_ends_many_calls_has_one_note(clock: VirtualClock) -> None:
    error = ConnectionRefusedError(111, "Connection refused")
    notes = vars(error)
    notes["__notes__"] = ["the caller's own"]

    @outlast.retry(**READ, attempts=1, reraise=True)
    def ask() -> None:
        raise error

    for _ in range(3):
        with pytest.raises(ConnectionRefusedError):
            ask()
    assert notes["__notes__"][0] == "the caller's own"
    assert len(notes["__notes__"]) == (2 if hasattr(error, "add_note") else 1)
